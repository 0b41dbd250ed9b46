"""Secrets as people tell them: keys of a network, logins in a sentence, passphrases of several words.

The second half of each list was written before the rules for them.
"""

from __future__ import annotations

import pytest

from conftest import every
from perdure.rules.redaction import redact

SECRETS = {  # text -> what must be gone
    "WiFi for the lab: SSID BoxLab, WPA key 'correct-horse-battery-99'": "correct-horse-battery-99",
    "wifi key: lab-secret-7788": "lab-secret-7788",
    "WPA2 key = kettle47river": "kettle47river",
    "The WLAN key is blau-7731-tisch.": "blau-7731-tisch",
    "WLAN-Schlüssel: garten-haus-2291": "garten-haus-2291",
    "clé wifi : soleil-bleu-4410": "soleil-bleu-4410",
    "The NAS login: user root, pass toor1234!": "toor1234!",
    "Log in with user admin and pass winter2031": "winter2031",
    "username: deploy, pw blue4431": "blue4431",
    "The backup passphrase is 'blue horse eats 9 apples'": "blue horse eats 9 apples",
    'passphrase: "seven green lamps under water"': "seven green lamps",
    "AWS: AKIAIOSFODNN7EXAMPLF / wJalrXUtnFEMI/K7MDENG/bPxRfiCYZZ81LEKEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYZZ81LEKEY",
    "Das Passwort für die Datenbank lautet Gurkensalat_2026! und so weiter": "!",
    # locked
    "guest wifi key is heron_marsh_58": "heron_marsh_58",
    "Wi-Fi key: 'TableLamp1988'": "TableLamp1988",
    "WPA3 key `pine-cone-6604-lake`, SSID Attic": "pine-cone-6604-lake",
    "WPA-PSK: 8842619375": "8842619375",
    "chiave wifi: mare.calmo.317": "mare.calmo.317",
    "sleutel wifi: fiets-brug-4402": "fiets-brug-4402",
    "For the switch it is user operator, password cisco5521": "cisco5521",
    "Benutzer: lager, Kennwort palette88": "palette88",
    "router: user admin / pass routerbox77!": "routerbox77!",
    "My GPG passphrase is “four tall men ate 3 pies”.": "four tall men",
    "Die Passphrase lautet „zwölf rote Äpfel am Zaun“": "zwölf rote Äpfel",
    "AKIAJ7Q2M4XW5T6RLK3P secret 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": "Zx8Qp2LmN4vT/7kRw1Yc9HsJd3BgF6uAe",
    "the password is Sommer_2029! please change it": "!",
    # changed, in brackets, after an account that everybody knows
    "The root password was changed from Abc!1234 to Xyz!5678.": "Xyz!5678",
    "The wiki's password was changed from Abc!1234 to something else.": "Abc!1234",
    "The password for the wiki has just been reset to 'Sommer2031x'": "Sommer2031x",
    "Das Root-Passwort wurde von Abc!1234 auf Xyz!5678 geändert.": "Xyz!5678",
    "Use admin:Gr1msel99! on the router": "Gr1msel99!",
    "ssh works (root:Qw3rty!99)": "Qw3rty!99",
    "The password for staging (Gr1msel99!)": "Gr1msel99!",
    "The wifi password (Haus12!34) is on the fridge": "Haus12!34",
    # a number that no capitals tell from a plug's
    "bank card pin: 739152": "739152",
    "SIM pin 4711, the rest is on the card": "4711",
    "my pin is 4711": "4711",
    "Handy-Pin: 8262": "8262",
    "The pin for the garage door is 90210.": "90210",
    "pin code of my card: 7391": "7391",
    "meine pin lautet 7391": "7391",
}
HARMLESS = (
    "Connect pin: 1024 to ground.",
    "GPIO pin 2040 is high; the chip's pin = 4096 is not.",
    "We pin the version for the phone app: 20260114.",
    "Your pin 2024 badge has come.",
    "pin code: 560001, Bengaluru",
    "The spin for the door: 4711 turns.",
    "The bank card pin: 2026-01-01 is when it changes.",
    "Her pin is 1111, as the manual says.",
    "The wifi key exchange takes 300 ms.",
    "WPA key rotation is due in 2027.",
    "The WLAN key must have at least 12345678 bits of nothing.",
    "A WPA key has 8 to 63 characters.",
    "wifi key: see the note on the fridge",
    "If the user logs in, pass session2 to the handler.",
    "For each user id, pass id2024 as an argument.",
    "The user clicks, pass rate1000 is shown.",
    'The prompt says: password is "not the one we expected"',
    "passphrase: 'must have at least 4 words'",
    "Is the password too short?",
    # locked
    "The Wi-Fi key fob is at the reception, room 204.",
    "The WPA key management suite is 00-0F-AC:2.",
    "wlan key index: 1",
    "Wi-Fi keyword search finds 20240101 entries.",
    "The wifi code path lies in net/wifi/connect.py.",
    "Every user, pass or fail, gets grade2024 as a label.",
    "The user admin, pass 2 of 3, was slow.",
    'The passphrase dialog shows "please enter your passphrase again"',
    'A passphrase is "a sequence of words used for access"',
    "The password policy is 'three of four sorts of characters'",
    "He forgot his password again!",
    "The password was changed from Vault to Bitwarden.",
    "The password manager was changed from KeePass2.5 to KeePass2.6.",
    "The password was reset to factory defaults on 2026-03-01.",
    "The password policy for staging (NIST800-63B) was changed to Level3Strict.",
    "The password for the host (Server01) is in the vault.",
    "The password for the login (Argon2id) is hashed.",
    "passwords for users (RFC2898)",
    "root:x:0:0:root:/root:/bin/bash",
    "chown root:Docker01x99 /srv/data",
    "Pull the image admin:Release2024.",
    "Das Passwort wurde von Server01 auf Server02 kopiert.",
)


@every(SECRETS.items())
def test_a_secret_that_is_told_is_replaced(text: str, secret: str) -> None:
    clean, names = redact(text)
    assert secret not in clean, clean
    assert names
    assert redact(clean) == (clean, ())


@every(HARMLESS)
def test_what_is_only_like_one_stays(text: str) -> None:
    assert redact(text) == (text, ())


@pytest.mark.parametrize(
    "beside", ["3f786850e387550fdab836ed7e6dc881de23001b", "deploy/modules/Accounts/ServiceUsers9/Ab", "a" * 40]
)
def test_what_stands_beside_the_id_of_a_key_and_is_no_secret_stays(beside: str) -> None:
    assert redact(f"AKIAJ7Q2M4XW5T6RLK3P lies in {beside}")[0] == f"[redacted: aws access key] lies in {beside}"
