GIVEN = (  # the example of an exercise, worked out from its own numbers
    "takes 0.0025 s if stored",
    "it takes 0.002 s, so the choice",
)
