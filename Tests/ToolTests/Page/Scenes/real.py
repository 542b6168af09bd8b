"""A scene on more real events than the page loads. `make soak` plays it."""

from answers import ask

# What the page loads at most.
LOADED = 100_000

# Questions by address, and the events that answer them.
QUESTIONS = [
    ("sort=magnitude:desc", "true", "magnitude desc nulls last"),
    ("last=all", "true", "time desc"),
    ("from=2020-03-01&to=2020-04-01&sort=magnitude:desc", "time >= '2020-03-01Z' and time < '2020-04-01Z'",
     "magnitude desc nulls last"),
    ("within=300:35.7,-117.5&sort=magnitude:desc", "code in (select code from quake.within(35.7, -117.5, 300))",
     "magnitude desc nulls last"),
    ("bbox=120,20,150,50&min-magnitude=5", "longitude between 120 and 150 and latitude between 20 and 50 "
     "and magnitude >= 5", "time desc"),
    ("to=2014-01-01&sort=time:asc", "time < '2014-01-01Z'", "time"),
    ("type=quarry+blast&sort=magnitude:desc", "type = 'quarry blast'", "magnitude desc nulls last"),
    ("network=ak&min-depth=100&sort=depth:desc", "net = 'ak' and depth >= 100", "depth desc nulls last"),
    ("search=hawaii&sort=time:asc", "place ilike '%hawaii%'", "time"),
]


def the_page_answers_for_real_months(stage):
    """Nine questions to a store of real feeds: the numbers and the first events are those of the database."""
    browser = stage.browser
    for query, condition, order in QUESTIONS:
        expected = ask(stage, query, condition, order, LOADED)[:20]
        browser.until(f"the first events of {query}", lambda: browser.run("""
          return [...document.querySelectorAll("#rows [role=option][data-code]")]
            .map((row) => [Number(row.getAttribute("aria-posinset")), row.dataset.code])
            .filter(([place]) => place <= arguments[0]).sort((a, b) => a[0] - b[0]).map(([, code]) => code)""",
            len(expected)) == expected)
    browser.no_errors("questions to real months")
    return f"{len(QUESTIONS)} questions"


SCENES = [the_page_answers_for_real_months]
