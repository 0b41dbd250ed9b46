"""Base forms of English nouns and verbs, by a few rules and the irregular words that conversations use.

May live here: lists of forms. May not: dictionaries of meaning (reading/predicates.py).
"""

from __future__ import annotations

from typing import Final

from perdure.rules.language.words import listed

_PLURALS: Final = {
    **{
        many: one
        for one, many in (
            pair.split(":")
            for pair in [
                "child:children",
                "man:men",
                "woman:women",
                "person:people",
                "foot:feet",
                "tooth:teeth",
                "mouse:mice",
                "goose:geese",
                "wife:wives",
                "life:lives",
                "knife:knives",
                "leaf:leaves",
                "half:halves",
                "shelf:shelves",
                "wolf:wolves",
                "loaf:loaves",
                "movie:movies",
                "cookie:cookies",
                "series:series",
                "species:species",
                "criterion:criteria",
                "analysis:analyses",
                "hobby:hobbies",
                "tie:ties",
                "pie:pies",
                "selfie:selfies",
                "zombie:zombies",
                "calorie:calories",
                "quiz:quizzes",
                "shoe:shoes",
                "toe:toes",
                "canoe:canoes",
                "cache:caches",
                "headache:headaches",
                "mustache:mustaches",
            ]
        )
    },
}
_NO_PLURAL: Final = listed("""
    is was has this his its us yes as thus plus bus gas lens news always perhaps whereas gps ios css sas aws dns https
    mathematics physics politics economics ethics athletics gymnastics aerobics series species tennis yoga christmas
    texas paris james charles thomas chris jess dennis lucas nicholas marcus angeles dallas vegas wales athens brussels
    besides towards afterwards kudos chaos canvas atlas basis status virus campus focus bonus menus postgres kubernetes
    redis pandas jenkins windows does goes alias bias iris oasis thesis diabetes
    """) - {"menus"}


def singular(word: str) -> str:
    """Return the singular of a noun in lower case; what is no plural stays as it is."""
    if word in _PLURALS:
        return _PLURALS[word]
    if len(word) <= 3 or not word.endswith("s") or word in _NO_PLURAL or word.endswith(("ss", "us", "is")):  # noqa: PLR2004
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes", "oes")):
        return word[:-2]
    return word[:-1]


_IRREGULAR: Final = {
    form: forms.split(":")[0]
    for forms in [
        "be:am:is:are:was:were:been:being",
        "have:has:had:having",
        "do:does:did:done:doing",
        "go:goes:went:gone:going:gonna",
        "get:got:gotten:gets:getting",
        "make:made:making",
        "take:took:taken:taking",
        "come:came:coming",
        "see:saw:seen",
        "know:knew:known",
        "give:gave:given:giving",
        "find:found",
        "think:thought",
        "tell:told",
        "become:became",
        "leave:left",
        "feel:felt",
        "bring:brought",
        "begin:began:begun",
        "keep:kept",
        "hold:held",
        "write:wrote:written:writing",
        "stand:stood",
        "hear:heard",
        "let:letting",
        "mean:meant",
        "set:setting",
        "meet:met",
        "run:ran:running",
        "pay:paid",
        "sit:sat:sitting",
        "speak:spoke:spoken",
        "lead:led",
        "read:reading",
        "grow:grew:grown",
        "lose:lost:losing",
        "fall:fell:fallen",
        "send:sent",
        "build:built",
        "understand:understood",
        "draw:drew:drawn",
        "break:broke:broken",
        "spend:spent",
        "cut:cutting",
        "rise:rose:risen",
        "drive:drove:driven",
        "buy:bought",
        "wear:wore:worn",
        "choose:chose:chosen:choosing",
        "teach:taught",
        "catch:caught",
        "win:won:winning",
        "fly:flew:flown",
        "sing:sang:sung",
        "swim:swam:swum:swimming",
        "ride:rode:ridden",
        "eat:ate:eaten",
        "drink:drank:drunk",
        "sleep:slept",
        "sell:sold",
        "fight:fought",
        "throw:threw:thrown",
        "shoot:shot",
        "hide:hid",
        "hurt:hurting",
        "quit:quitting",
        "put:putting",
        "hit:hitting",
        "forget:forgot:forgotten",
        "plan:planned:planning",
        "stop:stopped:stopping",
        "shop:shopped:shopping",
        "adopt:adopted",
        "use:used:using",
        "move:moved:moving",
        "live:lived:living",
        "love:loved:loving",
        "hate:hated:hating",
        "prefer:preferred:preferring",
        "refer:referred",
        "change:changed:changing",
        "like:liked:liking",
        "die:died:dying",
        "lie:lied:lying",
        "tie:tied",
        "raise:raised:raising",
        "receive:received:receiving",
        "bake:baked:baking",
        "manage:managed:managing",
        "complete:completed:completing",
        "schedule:scheduled:scheduling",
        "create:created:creating",
        "practice:practiced:practicing",
        "practise:practised:practising",
        "volunteer:volunteered:volunteering",
        "enter:entered:entering",
        "visit:visited:visiting",
        "focus:focused:focusing",
        "travel:traveled:travelled:traveling:travelling",
        "increase:increased:increasing",
        "decrease:decreased:decreasing",
        "reduce:reduced:reducing",
        "update:updated:updating",
        "improve:improved:improving",
        "extend:extended:extending",
        "switch:switched:switching",
        "hike:hiked:hiking",
        "graduate:graduated:graduating",
        "donate:donated:donating",
        "celebrate:celebrated:celebrating",
        "dance:danced:dancing",
        "organize:organized:organizing",
        "organise:organised:organising",
        "attend:attended:attending",
        "own:owned:owning",
        "finish:finished:finishing",
        "name:named:naming",
        "call:called:calling",
        "subscribe:subscribed:subscribing",
        "explore:explored:exploring",
        "damage:damaged:damaging",
        "purchase:purchased:purchasing",
        "license:licensed",
        "rescue:rescued:rescuing",
        "propose:proposed",
        "divorce:divorced",
        "engage:engaged",
        "marry:married",
        "reschedule:rescheduled",
        "exercise:exercised:exercising",
        "compete:competed:competing",
        "decide:decided:deciding",
        "lease:leased",
        "invite:invited",
        "integrate:integrated:integrating",
        "upgrade:upgraded:upgrading",
        "configure:configured",
        "write:wrote",
        "drop:dropped",
        "relocate:relocated:relocating",
        "store:stored:storing",
        "hire:hired:hiring",
        "fire:fired",
        "retire:retired:retiring",
        "revise:revised:revising",
        "rewrite:rewrote",
        "test:tested:testing",
        "cancel:canceled:cancelled:canceling:cancelling",
        "downgrade:downgraded:downgrading",
        "promote:promoted:promoting",
        "expire:expired:expiring",
        "require:required:requiring",
        "release:released:releasing",
        "cease:ceased:ceasing",
        "smoke:smoked:smoking",
        "unsubscribe:unsubscribed:unsubscribing",
        "bite:bit:bitten:biting",
        "exchange:exchanged:exchanging",
        "miss:missed:missing",
    ]
    for form in forms.split(":")
}


_SAME: Final = listed("cut hit hurt let put quit read run set become come")
"""Past tenses that look like their base form, or nearly."""


def base_verb(word: str) -> str:
    """Return the base form of a verb in lower case: ``went`` -> ``go``, ``signed`` -> ``sign``."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("eed"):
        return word[:-1] if word.endswith(("reed", "teed", "nteed")) else word
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return _stem(word[: -len(ending)])
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word  # noqa: PLR2004


def _stem(stem: str) -> str:
    """Return a stem without the doubled letter, with the y or the e that the ending took."""
    if stem.endswith("s") and not stem.endswith("ss"):
        return stem + "e"
    if stem.endswith("i"):
        return stem[:-1] + "y"
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsfz":  # noqa: PLR2004
        return stem[:-1]
    if stem.endswith(
        (
            "at",
            "iz",
            "is",
            "v",
            "u",
            "c",
            "dg",
            "rg",
            "bl",
            "pl",
            "tl",
            "gl",
            "dl",
            "zl",
            "fl",
            "clud",
            "vid",
            "cid",
            "fin",
            "bin",
            "par",
            "shar",
            "cor",
            "plor",
            "stor",
            "gnor",
            "ador",
            "ng",
            "ur",
            "ir",
        )
    ) and not (stem.endswith(("oin", "eat", "oat", "ing", "ang", "ong", "ung"))):
        return stem + "e"
    return stem


def past_form(word: str) -> bool:
    """Return whether a word looks like a past tense or participle of another base form."""
    if word.endswith(("s", "ing", "am", "are")):
        return False
    return (word.endswith("ed") and len(word) > 4) or _IRREGULAR.get(word, word) != word or word in _SAME  # noqa: PLR2004
