"""Words that tell small talk, decisions and requests apart from statements, by language (ISO 639-1), lower case.

A help where the features that hold in every language (rules/worth.py) say too little. Most stores hold one language and
some English, so the lists of all are used together.
"""

from __future__ import annotations

from typing import Final

SMALL_TALK: Final = {
    "en": """
    a again agree agreed ah ahead alright also amazing and awesome aw aww bet bye cheers congrats
    congratulations cool course cya dear definitely do done exactly excellent fantastic fine for glad go good
    goodbye gotcha got great haha happy have hear hello help helped helpful helping helps here hey hi hm hmm how
    i idea it is just know like lol looks love lot lots lovely luck makes me mind minute moment morning much my
    nice night no nope not of oh ok okay on one perfect please pleasure problem really right sec second see
    sense so sorry sounds sure take talk thank thanks that thats the then there this to too totally true u
    understood very wait welcome well what will wonderful works worries wow yeah yep yes you your yup m s re ll
    ve lunch brb afk now
    """,
    "de": """
    aber alles alright auch bis bitte danke dank dann das dir doch du echt ein euch genau gern gerne gut gute guten
    hallo hey ich ihnen in ist ja jawohl klar klingt mach morgen moin na nacht nein nett nichts ok okay ordnung
    passt prima recht schön schöne sehr sicher so super tag tja toll tschüss und viel viele vielen wie wunderbar zu
    """,
    "fr": """
    accord ah allo au aussi bien bon bonjour bonne bonsoir bravo ca ça cool de désolé exactement génial grand
    journée je là le merci mille non nuit oh ok ou oui parfait pas plaisir pour problème rien revoir salut si soirée
    super sûr très tout vous
    """,
    "es": """
    acuerdo adiós ah bien buen buena buenas bueno buenos claro cool de días dios el encanta está exacto excelente
    genial gracias hasta hola igualmente la listo luego muchas muy nada no noches ok oh para perfecto por favor que
    qué sí sin problema suerte también tardes todo vale
    """,
    "zh": """
    你好 您好 谢谢 多谢 谢谢你 谢谢您 好 好的 好吧 嗯 嗯嗯 是 是的 对 对的 不 不是 没事 没关系 再见 晚安
    早上好 哈哈 可以 行 没问题 不客气 太好了 当然
    """,
    "ja": """
    こんにちは おはよう おはようございます こんばんは ありがとう ありがとうございます はい いいえ うん ううん
    了解 了解です わかりました ok なるほど すごい さようなら おやすみ 大丈夫 大丈夫です
    """,
}
"""Words of messages that say nothing: a message that has no others is small talk."""

DECIDES: Final = {
    "en": """
    decided|we decided|i decided|we have decided|i have decided|we've decided|i've decided|decision|let's go with
    let's use|let's stick with|we go with|we will go with|we'll go with|i'll go with|we are going with
    we're going with|i'm going with|going with|we will use|we'll use|we agreed|we chose|i chose|we settled on
    settled on|we switched to|i switched to|we are switching to|we're switching to|we moved to|from now on
    instead of|no longer|not anymore|actually,|correction|i was wrong|i meant|scratch that|the plan changed
    change of plan|changed my mind|final answer|let's go back to|let's switch back|let's move back to|let's revert
    let's roll back|we're back on|we are back on|we're back to|we went back to|we've gone back to|we have gone back to
    we're going back to|we are going back to|switch back to|switched back to|switching back to|reverted to|reverting to
    revert to|rolled back to|roll back to|scrap that
    """,
    "de": """
    wir haben entschieden|wir haben uns|ich habe mich entschieden|entschieden|entscheidung|wir nehmen
    wir nutzen ab|ab sofort|ab jetzt|von nun an|statt|nicht mehr|stattdessen|doch nicht|korrektur|ich meinte
    wir bleiben bei|wir wechseln|lass uns|wir gehen zurück|gehen wir zurück|wir kehren zurück|kehren wir zurück
    wir sind wieder bei|doch wieder|doch lieber|zurückgewechselt
    """,
    "fr": """
    nous avons décidé|on a décidé|j'ai décidé|décision|désormais|dorénavant|à partir de maintenant|au lieu de
    ne plus|on prend|nous prenons|on utilise|en fait,|correction|finalement|on revient à|nous revenons à
    revenons à|on est revenus à|nous sommes revenus à|on repasse à|nous repassons à|repassons à
    """,
    "es": """
    hemos decidido|he decidido|decidimos|decidí|decisión|a partir de ahora|de ahora en adelante|en lugar de
    en vez de|ya no|vamos con|usaremos|vamos a usar|en realidad,|corrección|volvamos a|volvemos a usar
    volveremos a usar|volvimos a usar|hemos vuelto a usar|regresemos a
    """,
    "zh": "我们决定|我决定|决定了|决定|改用|改成|换成|从现在起|从今以后|以后|不再|而不是|更正|其实是|改回|换回|退回到",
    "ja": """
    決めました|に決めた|決定|これからは|今後は|ではなく|変更しました|訂正|もう使わない|に戻す|に戻し|に戻そう
    """,
}
"""Phrases of clauses that decide or correct, apart by bars."""

REMEMBER: Final = {
    "en": """
    remember that|remember this|remember:|please remember|don't forget|do not forget|don't let me forget|note that|note:
    important:|for the record|keep in mind|make a note|take note|write this down
    """,
    "de": """
    merk dir|merke dir|bitte merken|bitte merke|vergiss nicht|nicht vergessen|denk daran|wichtig:|notiz:
    notiere
    """,
    "fr": "souviens-toi|souvenez-vous|rappelle-toi|n'oublie pas|n'oubliez pas|note que|notez que|important :|retiens",
    "es": "recuerda que|recuerde que|no olvides|no olvide|ten en cuenta|anota que|apunta que|importante:",
    "zh": "记住|请记住|请记得|记得|别忘了|不要忘记|注意|备注",
    "ja": "覚えておいて|覚えて|忘れないで|メモして|重要",
}
"""Phrases with which a sentence begins that asks to have something remembered, apart by bars."""
