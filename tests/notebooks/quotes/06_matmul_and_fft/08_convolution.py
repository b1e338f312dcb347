FACTS = {"2.25 times": "36 products over 16, as the notebook prints"}
