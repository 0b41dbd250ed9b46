"""Everyday statements and what they claim, from three worlds; and sentences that claim nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from conftest import every
from perdure.knowledge.extension import predicates_from
from perdure.knowledge.extraction.claims import claims
from perdure.knowledge.records.facts import FactOrigin
from perdure.records.instant import to_instant
from perdure.records.policy_knowledge import KnowledgePolicy

SAID = to_instant(datetime(2024, 6, 5, 15, 30, tzinfo=UTC))
NAMES, POLICY = predicates_from({}, ""), KnowledgePolicy()


def read(text):
    return claims(text, SAID, NAMES, speaker="user", policy=POLICY)


def shown(claim):
    """Subject, predicate, normal form of the value, and what it was before."""
    value = f"{'NOT ' * claim.denied}{claim.value.norm}"
    return " | ".join([claim.subject, claim.predicate, value, *([f"was {claim.old.norm}"] if claim.old else [])])


A_PERSONS_CHAT = {
    "My favourite restaurant is Chez Panisse.": ["I | favorite_restaurant | chez panisse"],
    "My favorite colors are green and teal.": ["I | favorite_color | green and teal"],
    "I live in Porto with my wife.": ["I | home | porto"],
    "My hobby is great.": [],
    "My favourite sport is tennis.": ["I | favorite_sport | tennis"],
    "My doctor is Dr Lee.": ["I | doctor | dr lee"],
    "My wife's name is Clara.": ["I | wife_name | clara"],
    "Our cat is called Miso.": ["we | cat_name | miso"],
    "I'm vegetarian.": ["I | diet | vegetarian"],
    "I don't eat pork.": ["I | eat | NOT pork"],
    "I no longer drink tea.": ["I | drink | NOT tea"],
    "I stopped eating meat.": ["I | eat | NOT meat"],
    "I gave up smoking two years ago.": ["I | smoke | NOT smoking"],
    "I don't like horror movies any more.": ["I | like | NOT horror movie"],
    "I don't like cilantro.": ["I | like | NOT cilantro"],
    "I can't stand loud restaurants.": ["I | dislike | loud restaurant"],
    "I hate flying.": ["I | dislike | flying"],
    "I prefer aisle seats.": ["I | preference | aisle seat"],
    "I prefer tea to coffee.": ["I | preference | tea"],
    "We moved from Lyon to Nantes in April.": ["We | home | nante | was lyon"],
    "Call me Sam.": ["I | nickname | sam"],
    "It's now 12 weeks instead of 10.": ["It | value | 12 week | was 10"],
    "My best friend is Jonas.": ["I | best_friend_name | jona"],
    "I love spicy food.": ["I | like | spicy food"],
    "My favourite film is Alien.": ["I | favorite_film | alien"],
    "I've lived in Graz for ten years.": ["I | home | graz"],
    "My landlord is Mr Ortiz.": ["I | landlord | mr ortiz"],
    "I stopped drinking alcohol in January.": ["I | drink | NOT alcohol"],
    "I don't play tennis any more.": ["I | play | NOT tennis"],
    "I'm no longer vegetarian.": ["I | diet | NOT vegetarian"],
    "I no longer work at Globex.": ["I | employer | NOT globex"],
    "My favourite season is autumn.": ["I | favorite_season | autumn"],
    "I switched from coffee to tea.": ["I | use | tea | was coffee"],
    "My mom's name is Irene.": ["I | mom_name | irene"],
    "I no longer eat dairy.": ["I | eat | NOT dairy"],
    "I've stopped biting my nails.": ["I | bite | NOT nail"],
    "My hairdresser is called Mona.": ["I | hairdresser | mona"],
}
AN_AGENTS_USER = {
    "I use uv instead of pip.": ["I | use | uv | was pip"],
    "We use pnpm, not npm.": ["We | use | pnpm | was npm"],
    "Always run make test before pushing.": ["I | rule | run make test before pushing"],
    "Never commit directly to main.": ["I | rule | NOT commit directly to main"],
    "We upgraded from Django 4.2 to Django 5.0.": ["We | django_version | django 5.0 | was django 4.2"],
    "We migrated from MySQL to Postgres.": ["We | use | postgres | was mysql"],
    "I prefer tabs over spaces.": ["I | preference | tab"],
    "I prefer short commit messages.": ["I | preference | short commit message"],
    "I raised our timeout from 30 to 60 seconds.": ["I | timeout | 60000 ms | was 30"],
    "My editor is Neovim.": ["I | editor | neovim"],
    "We no longer support Python 3.8.": ["We | support | NOT python 3.8"],
    "We use Postgres 15 in production.": ["We | postgres_version | postgres 15"],
    "We stopped using Redux.": ["We | use | NOT redux"],
    "Remember that the deploy script needs VPN.": ["I | note | deploy script need vpn"],
    "Never force-push to main.": ["I | rule | NOT force push to main"],
    "Always squash before merging.": ["I | rule | squash before merging"],
    "I use uv rather than pip.": ["I | use | uv | was pip"],
    "We moved from Jenkins to GitHub Actions.": ["We | home | github action | was jenkins"],
    "I prefer pytest over unittest.": ["I | preference | pytest"],
    "Never log personal data.": ["I | rule | NOT log personal data"],
}
A_CUSTOMER = {
    "Gai Media prefers Friday deliveries.": ["Gai Media | delivery_day_preference | friday"],
    "Gai Media stopped Friday deliveries.": ["Gai Media | delivery_day_preference | NOT friday"],
    "Gai Media doesn't want Friday deliveries any more.": ["Gai Media | delivery_day_preference | NOT friday"],
    "Gai Media no longer wants deliveries on Fridays.": ["Gai Media | delivery_day_preference | NOT friday"],
    "They want deliveries on Thursday.": ["They | delivery_day_preference | thursday"],
    "They only accept deliveries in the morning.": ["They | delivery_time_preference | morning"],
    "Their payment terms changed from NET 30 to NET 45.": ["they | payment_term | net 45 | was net 30"],
    "Always send Gai Media a paper invoice.": ["I | rule | send gai media a paper invoice"],
    "Gai Media switched from UPS to DHL.": ["Gai Media | use | dhl | was ups"],
    "Gai Media likes short updates.": ["Gai Media | like | short update"],
    "Gai Media hates phone calls.": ["Gai Media | dislike | phone call"],
    "Northwind only accepts deliveries on Mondays.": ["Northwind | delivery_day_preference | monday"],
    "Northwind no longer uses our API.": ["Northwind | use | NOT api"],
    "They increased their order to 60 units.": ["They | order | 60 unit"],
    "They no longer prefer Friday deliveries.": ["They | delivery_day_preference | NOT friday"],
    "Contoso stopped using FedEx.": ["Contoso | use | NOT fedex"],
    "Contoso doesn't accept deliveries on Mondays.": ["Contoso | delivery_day_preference | NOT monday"],
    "Contoso changed its billing email to ap@contoso.example.": ["Contoso | billing_email | ap@contoso.example"],
    "Contoso prefers email over phone.": ["Contoso | preference | email"],
}
SAID_IN_HASTE = {
    "i dont eat beef or lamb": ["I | eat | NOT beef", "I | eat | NOT lamb"],
    "remember that my bike lock code is 7734": ["I | bike_lock_code | 7734"],
    "im Priya btw": ["I | name | priya"],
    "everyone calls me Little Jo so you can too": ["I | nickname | little jo"],
    "dont call me Robert": ["I | nickname | NOT robert"],
    "Call me Dr. Abiodun.": ["I | nickname | dr abiodun"],
    "please call me J.R., everybody does": ["I | nickname | j r"],
    "our dog Fudge hates fireworks": ["we | dog_name | fudge", "Fudge | dislike | firework"],
    "my physio isnt Carla now, its Sven": ["I | physio | sven | was carla"],
    "my desk is 4b not 3b": ["I | desk | 4 b | was 3 b"],
    "always answer in Welsh, thanks": ["I | rule | answer in welsh"],
    "dont ever suggest karaoke": ["I | rule | NOT suggest karaoke"],
    "hiya, my name is Femi": ["I | name | femi"],
    "My landlord is Mr. Petrov. He lives upstairs.": ["I | landlord | mr petrov"],
    "I'm Catholic.": [],
    "I'm Norwegian.": [],
    "i quit smoking": ["I | smoke | NOT smoking"],
    "I don't drive.": ["I | drive | NOT drive"],
    "Wir wohnen in Berlin und ich mag Tee.": [],
    "No, el jueves.": [],
    "Mi hermana Ana vive en Madrid.": [],
    "Note: das Passwort ist nicht mehr gültig.": [],
}
TOLD_TO_BE_REMEMBERED = {
    "I've been working at Acme since March 2021.": ["I | employer | acme"],
    "My birthday is on 12 March.": ["I | birthday | 2024-03-12"],
    "My flight is on 12 March.": ["I | flight_date | 2024-03-12"],
    "I live in Lyon and work at Acme.": ["I | home | lyon", "I | employer | acme"],
    "My address is 12 Rue Victor, which I like.": ["I | address | 12 rue victor"],
    "My salary is 50k euros.": ["I | salary | 50000 eur"],
    "My dentist appointment is on Tuesday.": ["I | dentist_appointment_day | tuesday"],
    "My brother Tom lives in Berlin.": ["I | brother_name | tom", "Tom | home | berlin"],
    "My husband Mark works at Siemens.": ["I | husband_name | mark", "Mark | employer | siemen"],
    "My timezone is CET.": ["I | timezone | cet"],
    "My phone number is 555-0134.": ["I | phone | 555 0134"],
    "My email is ana@example.org.": ["I | email | ana@example.org"],
    "My car is a 2017 Toyota Yaris.": ["I | car | 2017 toyota yaris"],
    "Our anniversary is on 8 September.": ["we | anniversary | 2024-09-08"],
    "My rent is 950 euros a month.": ["I | rent | 950 eur/month"],
    "My shoe size is 42.": ["I | shoe_size | 42"],
    "My girlfriend Noor is vegan.": ["I | girlfriend_name | noor", "Noor | diet | vegan"],
    "My bank is Revolut.": ["I | bank | revolut"],
    "My passport number is X1234567.": ["I | passport_number | x 1234567"],
    "My train is at 7:45.": ["I | train_time | 7 45"],
    "My new address is 4 Elm Road.": ["I | address | 4 elm road"],
    "My sister Rita lives in Lyon and works at Acme.": [
        "I | sister_name | rita",
        "Rita | home | lyon",
        "Rita | employer | acme",
    ],
    "My uncle Pete is retired.": ["I | uncle_name | pete", "Pete | status | retired"],
    "My laptop is a ThinkPad X1.": ["I | laptop | thinkpad x 1"],
    "Our staging database is pg-stage-2.": ["we | staging_database | pg stage 2"],
    "Our error tracker is Sentry.": ["we | error_tracker | sentry"],
    "Our Slack channel is #platform.": ["we | slack_channel | platform"],
    "Our staging database is pg-stage-3 now.": ["we | staging_database | pg stage 3"],
    "Our production region is eu-west-1.": ["we | production_region | eu west 1"],
    "Gai Media's payment terms are NET 30.": ["Gai Media | payment_term | net 30"],
    "Gai Media's contact is Ruth Alder.": ["Gai Media | contact | ruth alder"],
    "Gai Media is based in Rotterdam.": ["Gai Media | home | rotterdam"],
    "Gai Media's order number is SO-1001.": ["Gai Media | order_number | so 1001"],
    "Gai Media's credit limit is $20,000.": ["Gai Media | credit_limit | 20000 usd"],
    "Gai Media's discount is 10%.": ["Gai Media | discount | 10 %"],
    "Gai Media's VAT number is NL123456789B01.": ["Gai Media | vat_number | nl 123456789 b 01"],
    "Northwind's main contact is Petra Lang.": ["Northwind | main_contact | petra lang"],
    "Northwind's account number is 88-1203.": ["Northwind | account_number | 88 1203"],
    "Northwind's renewal date is 1 July.": ["Northwind | renewal_date | 2024-07-01"],
    "Contoso's preferred carrier is FedEx.": ["Contoso | preferred_carrier | fedex"],
    "Contoso's lead time is 4 weeks.": ["Contoso | lead_time | 4 week"],
    "Contoso's new CFO is Iris Kahn.": ["Contoso | cfo | iris kahn"],
    "Contoso is located in Ghent.": ["Contoso | home | ghent"],
}
PASSED_OVER = [
    "I go by Sam.",
    "I used to live in Madrid.",
    "I've never used Zotero.",
    "My parents live in Galway.",
    "My sister's phone number is 555-0101.",
    "The backend is written in Go.",
    "The project is called Heron.",
    "Their phone number changed to 555-0199.",
    "My rent went up to 1,100 euros.",
]
NOTHING = [
    "Where does Ana live?",
    "Do you know whether my flight is on 12 March?",
    "Is the deadline still 10 May?",
    "What is my doctor's name?",
    "Don't I live in Porto?",
    "Isn't our office in Rotterdam?",
    "Didn't they prefer Friday deliveries?",
    "Doesn't Gai Media want Thursday deliveries?",
    "Which editor do I use?",
    "How many employees does Gai Media have?",
    "Can you tell me when my birthday is?",
    "Should I use uv instead of pip?",
    "Could my timezone be CET?",
    "Who is Gai Media's manager?",
    "Why did we switch to Poetry?",
    "I wonder if I am allergic to peanuts.",
    "I'm not sure whether our office is in Rotterdam.",
    "If I moved to Paris, I would sell my car.",
    "If we deployed on Thursdays, we would have Friday to fix things.",
    "Suppose my budget is $500.",
    "Imagine I live in Tokyo.",
    "Let's say the rate limit is 500 requests per minute.",
    "Unless the deadline is 10 May, we're fine.",
    "What if I gave up coffee?",
    "Assuming the timeout is 30 seconds, the job would fail.",
    "I would be a teacher if I could start over.",
    "I might switch to Neovim.",
    "Maybe I'm allergic to nuts.",
    "Perhaps our office is in Rotterdam.",
    "I wish I lived in Lisbon.",
    "I wish my rent was 500 euros.",
    "I want to live in Lisbon.",
    "I'd like to have a dog.",
    "I hope to work at Initech one day.",
    "I'm hoping my flight is on time.",
    "If only I had two cats.",
    "I would love to play the cello.",
    "He said that I like jazz.",
    "She told me my doctor is Dr Lee.",
    'They said "our office is in Rotterdam".',
    "According to Tom, I prefer tea.",
    "My boss thinks I'm a data engineer.",
    "My sister says I hate flying.",
    "Ben claims that Gai Media prefers Fridays.",
    'Somebody wrote: "I live in Porto".',
    "> my budget is $50",
    "Run `make test` and paste the output.",
    "Rename `user_id` to `account_id` in models.py.",
    "Please set timeout = 30 in config.toml.",
    '```python\nname = "my name is Bob"\n```',
    "Write a function that returns the current time.",
    "Add a test for the login page.",
    'Translate "I have two dogs" into French.',
    "Use 4 spaces in this file.",
    "Hi, how are you?",
    "Thanks a lot, that helps!",
    "Good morning!",
    "That sounds great.",
    "You're welcome.",
    "See you tomorrow.",
    "Nice weather today.",
    "No worries, take your time.",
    "Sounds like a plan.",
    "Haha, that's funny.",
    "I see.",
    "I think so too.",
    "Never mind.",
    "Always a pleasure.",
    "My day was fine.",
    "The weather is lovely.",
    "The build is slow today.",
    "My editor is slow.",
    "The database is down.",
    "The meeting was great.",
    "I'm tired.",
    "I'm at my desk.",
    "I like it.",
    "I love that.",
    "I like this one more than that.",
    "I used to it by now.",
    "We stopped for lunch.",
    "He gave up his seat.",
    "The server stopped.",
    "The shop is in trouble.",
    "My flight is late.",
    "My doctor is nice.",
    "My sister is coming over.",
    "We cancelled the meeting.",
    "I quit.",
    "I quit Meta in March and I'm freelancing now.",
    "Please call me Dr. Abiodun in drafts that go to patients, Kemi everywhere else.",
    "Not sure what you mean.",
    "It could be that they prefer Thursday deliveries.",
    "They might want deliveries on Thursday.",
    "I'd use uv if it were faster.",
    "I was going to move to Lyon.",
    "I almost moved to Lyon.",
    "I thought the deadline was 10 May.",
    "My favourite part was the ending.",
    "The problem is Python.",
    "My question is Python or Go?",
    "The answer is Paris.",
    "My guess is Friday.",
    "The best time is Monday morning.",
    "I would take 20 mg of ibuprofen.",
    "My sister would like a dog.",
    "My mother always says that life is short.",
    "My boss wants me to work on Fridays.",
    "We should deploy on Thursdays.",
    "Let's deploy on Thursdays.",
    "We could stop Friday deliveries.",
    "If they stopped Friday deliveries, we would save money.",
    "They never stopped Friday deliveries?",
    "Why did Gai Media stop Friday deliveries?",
    "She asked if we deploy on Thursdays.",
    "He told me the timeout is 30 seconds.",
    "I think the default branch is trunk.",
    "I believe my doctor is Dr Lee.",
    "I guess my editor is Neovim.",
    "The docs say the limit is 500.",
    "The README says always run make test.",
    "Always look on the bright side.",
    "Never say never.",
    "Never heard of it.",
    "Never been better!",
    "Always happy to help.",
    "Always great to see you.",
    "I'm on it.",
    "I'm on my way.",
    "I'm in.",
    "We're on the same page.",
    "My phone is dead.",
    "My car is in the garage.",
    "My office is a mess.",
    "The office is closed today.",
    "The release is late.",
    "The release is amazing.",
    "My flight was cancelled.",
    "We cancelled dinner.",
    "I gave up.",
    "I gave up on him.",
    "He quit.",
    "I stopped by the store.",
    "I can't stand up.",
    "I take the point.",
    "I take care of it.",
    "I take it back.",
    "I go by train.",
    "Call me later.",
    "Call me when you can.",
    "It was 12 weeks instead of what we wanted.",
    "Could you move the meeting to 3 pm?",
    "Please move the meeting to 3 pm.",
    "Move the deadline to 10 May.",
    "Run pytest -q instead of tox.",
    'git commit -m "fix"',
    "def f(x): return x",
    "Fix the bug where my name is shown twice.",
    "Here is my code: x = 5",
    "My code is a mess.",
    "The error is TypeError.",
    "The output is None.",
    "My result is NaN.",
    "The bug is in parser.py.",
    "The file is at src/main.py.",
    "I wish my sister lived in Lyon.",
    "Hopefully my flight is on time.",
    "Could you remind me where I live?",
    "Would it help if I used uv?",
    "I don't know who my manager is.",
    "It depends on whether the limit is 500.",
    "My friend asked whether I like jazz.",
    "They asked me if our office is in Rotterdam.",
    "The article claims that the default port is 8080.",
    "You said my flight is on 12 March.",
    "Someone told me Gai Media stopped Friday deliveries.",
    "Someday I will live in Lisbon.",
    "I would have moved to Lyon.",
    "I should stop drinking coffee.",
    "I need to stop eating sugar.",
    "I'm thinking of moving to Lyon.",
    "We plan to switch to Poetry.",
    "We're considering moving to Utrecht.",
    "Don't forget to breathe.",
    "Change the timeout from 30 to 60 seconds.",
    "Set my timezone to CET.",
    "Make the default branch trunk.",
    "Replace pip with uv.",
    "```\nThe default branch is trunk.\n```",
    "Open the file and read line 3.",
    "That's a good point.",
    "My bad.",
    "My pleasure.",
    "Long time no see.",
    "What a day.",
    "The coffee is cold.",
    "My day is full.",
    "My inbox is full.",
    "My train is late.",
    "The tests are failing.",
    "The server is slow.",
    "The answer is no.",
    "The point is this.",
]


@pytest.mark.behaviour("CL19", "WH10")
@every({**A_PERSONS_CHAT, **AN_AGENTS_USER, **A_CUSTOMER, **SAID_IN_HASTE}.items())
def test_an_everyday_statement_claims_what_it_says(text, told):
    assert [shown(claim) for claim in read(text)] == told


@every(TOLD_TO_BE_REMEMBERED.items())
def test_what_is_told_to_be_remembered_is_read_and_the_same_in_passing_is_not(text, told):
    assert [shown(claim) for claim in read(f"Remember that {text}")] == told
    assert [shown(claim) for claim in read(text)] != told


@every(PASSED_OVER)
def test_what_rules_do_not_read_rightly_is_left_to_the_message_or_a_note(text):
    assert read(text) == []
    assert {claim.predicate for claim in read(f"Remember that {text}")} == {"note"}


TEXTS_FOR_WORK = [
    "Translate into Latin: I do not eat meat.",
    "Translate this please: I live in Madrid and I prefer tea.",
    "Can you improve this sentence: I'm Peter and I like dogs.",
    "For the story: I am Kezia and I love rain.",
    "Proofread the text below:\n\nMy name is Ann. I live in Lyon. I hate rain.",
    "Correct this letter: I live in Madrid and my name is Kezia.",
    "EVA: I live in Lyon. TOM: I hate rain.",
    "Eva: My name is Eva. I love rain.\nTom: I am retired. I live in Lyon.",
    "- Who are you? - I'm Peter. - I live in Lyon.",
    "You are a sea captain. My name is Kezia and I hate rain.",
    "Pretend we have never met. I'm Peter. I live in Lyon.",
    "Let's role-play: I love rain. I live in Lyon.",
]


@every(TEXTS_FOR_WORK)
def test_a_text_that_is_handed_over_for_work_states_nothing(text):
    assert read(text) == []


@every(
    [
        "I prefer sneakers with a sleek, modern look.",
        "I love climbing, sliding and diving.",
        "Always format dates as Month Day, Year when I ask.",
        "They love new journeys.",
        "I like the blue one more.",
        "I like option B better.",
        "I prefer version 2.",
        "Never give up!",
        "Remember that every step counts.",
    ]
)
def test_what_is_cut_or_said_of_life_states_nothing(text):
    assert read(text) == []


@every(
    [
        "We cancelled Netflix.",
        "I gave up gluten.",
        "I'm into bouldering.",
        "I'm a big fan of jazz.",
        "We switched to Poetry.",
        "We moved the retro from Thursday to Friday.",
        "I'm left-handed.",
        "My middle name is Trouble.",
        "Our neighbour Gwen has the key.",
        "My flight is at 6:40 in the evening, not in the morning.",
    ]
)
def test_what_rules_read_wrongly_too_often_states_nothing_in_passing(text):
    assert read(text) == []
    if " not " not in text:
        assert read(f"Please remember that {text[0].lower()}{text[1:]}") != []


@every(
    [
        "My story needs a hero. I'm Ada and I live in Hull.",
        "I don't eat meat. Can you translate that?",
        "A short dialogue, please. My name is Bo. I love trains.",
    ]
)
def test_beside_a_text_that_is_made_nobody_says_anything_of_themselves(text):
    assert read(text) == []


def test_beside_a_text_that_is_made_requests_and_rules_count():
    assert [c.predicate for c in read("Remember that I live in Hull. It's for the story.")] == ["home"]
    assert [c.predicate for c in read("Never use em dashes in this story.")] == ["rule"]


@pytest.mark.behaviour("CL20")
@every(NOTHING)
def test_what_states_nothing_claims_nothing(text):
    assert [shown(claim) for claim in read(text)] == []


ENDINGS = [
    "I no longer drink tea",
    "I don't like tea any more",
    "I don't drink tea anymore",
    "I stopped drinking tea",
    "I gave up drinking tea",
    "We no longer use Netflix",
    "I no longer work at Globex",
    "Gai Media stopped Friday deliveries",
    "Gai Media doesn't want Friday deliveries any more",
]


@pytest.mark.behaviour("CL21")
@every(ENDINGS)
def test_what_ended_is_a_correction_that_quotes_how_it_ended(text):
    (claim,) = read(f"{text}.")
    assert claim.denied
    assert claim.learned is FactOrigin.CORRECTION
    assert claim.span.quote == text


@pytest.mark.parametrize(
    ("text", "many"),
    [("My sister Rita called.", True), ("My husband Mark called.", False)],
)
def test_a_relative_told_by_name_is_known_by_it_and_some_have_several(text, many):
    first = read(text)[0]
    assert first.predicate.endswith("_name")
    assert (first.subject, first.type, first.many) == ("I", "name", many)
    assert not any("sister" in claim.subject.lower() for claim in read(text))


def test_a_version_keeps_its_last_digit():
    (claim,) = read("We upgraded from Python 3.1 to Python 3.10.")
    assert (claim.predicate, claim.old is None) == ("python_version", False)
    assert claim.value.norm != claim.old.norm


def test_a_rule_keeps_when_it_holds():
    (claim,) = read("Always include version numbers when I ask about dependencies.")
    assert claim.value.text == "include version numbers when I ask about dependencies"
