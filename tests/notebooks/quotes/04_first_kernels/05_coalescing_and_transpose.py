GIVEN = ("takes 32 times the wavefronts of the line that fills it",)
