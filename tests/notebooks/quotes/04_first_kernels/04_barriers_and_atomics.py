GIVEN = ("256 times fewer than there are threads", "wrapped around a hundred times")
