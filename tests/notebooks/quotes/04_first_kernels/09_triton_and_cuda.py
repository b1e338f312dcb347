GIVEN = ("takes a thousand times as long as the memory needs. What helps",)
