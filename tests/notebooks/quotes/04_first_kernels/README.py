"""Figures in the README of chapter 04."""

GIVEN = ("fetch once, use sixteen times",)  # the title of an exercise, whose tiles are 16 wide
