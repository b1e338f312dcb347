GIVEN = ("its first lane is 4 times that",)
