"""Takes messages out of a Quittance inbox: python3 poll.py INBOX DONE [--once]"""
import json
import os
import sys
import time

inbox, done = sys.argv[1], sys.argv[2]


def handle(directory, metadata):
    """Your work. Raise, and the directory stays where it is and is tried again."""
    files = metadata["files"]
    document = next((f for f in files if f["role"] == "document"), files[0])
    with open(os.path.join(directory, document["name"]), "rb") as file:
        content = file.read()
    print(json.dumps({"sequence": metadata["sequence"], "messageId": metadata["messageId"], "bytes": len(content)}))


def poll():
    names = [name for name in os.listdir(inbox) if not name.startswith(".")]
    for name in sorted(names, key=lambda name: int(name.rsplit("_", 1)[1])):
        directory = os.path.join(inbox, name)
        try:
            with open(os.path.join(directory, "metadata.json"), encoding="utf-8") as file:
                metadata = json.load(file)
            handle(directory, metadata)
            os.rename(directory, os.path.join(done, name))
        except Exception as error:
            print(f"{name} stays in the inbox: {error}", file=sys.stderr)


os.makedirs(done, exist_ok=True)
while True:
    poll()
    if "--once" in sys.argv:
        break
    time.sleep(1)
