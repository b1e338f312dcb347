GIVEN = ("takes 32 times as many as the line that fills it",)
