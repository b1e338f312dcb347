GIVEN = ("400 clocks of other work",)
