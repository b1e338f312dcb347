"""Figures in the README of chapter 07."""

GIVEN = ("how many tokens make up 90 %",)  # the title of an exercise, which sets the limit
