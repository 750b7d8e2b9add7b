"""Write prompts for the SmolLM2 run: every form of question about every topic, none of it downloaded.

Topics are split before questions are formed, so no held-out prompt shares its topic with a training one.

    python prompts.py OUT_DIR      writes train.jsonl and heldout.jsonl
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

TOPICS = """
rain, bread, bridges, honey bees, the moon, volcanoes, bicycles, coffee, the piano, chess, gardens,
owls, trains, the heart, sleep, glass, windmills, salt, paper, maps, clocks, rivers, dolphins,
photography, libraries, mountains, vaccines, magnets, cheese, the printing press, dinosaurs,
lighthouses, umbrellas, electricity, markets, friendship, tides, poetry, deserts, wool, kites, the
internet, penguins, soap, ships, mathematics, fire, dreams, wolves, gravity, tea, castles,
batteries, rainbows, recycling, ants, cinema, snow, whales, telescopes, farming, silk, robots,
forests, music, hospitals, planets, swimming, lions, cities, painting, rice, elephants, airplanes,
memory, bread ovens, coral reefs, football, wheat, thunderstorms, schools, bananas, earthquakes, the
violin, money, cats, comets, tomatoes, Rome, the ocean, horses, democracy, steel, butterflies,
dance, computers, apples, rockets, turtles, law
"""

FORMS = """
What is the history of {}?
Explain {} to a child.
Give three facts about {}.
Why do people care about {}?
How would you describe {} to someone who has never seen it?
What are common misconceptions about {}?
List the advantages and disadvantages of {}.
Summarize what is known about {} in one paragraph.
What might {} be like in the future?
Write instructions for a beginner who wants to learn about {}.
What is the science behind {}?
Give advice to a teacher who prepares a lesson on {}.
"""


def main(out: Path, seed: int = 0) -> None:
    topics = [topic.strip() for topic in TOPICS.replace("\n", " ").split(",")]
    forms = FORMS.strip().splitlines()
    random.Random(seed).shuffle(topics)
    out.mkdir(parents=True, exist_ok=True)
    for name, part in (("heldout", topics[:8]), ("train", topics[8:])):
        chats = [[{"role": "user", "content": form.format(topic)}] for topic in part for form in forms]
        random.Random(seed + 1).shuffle(chats)
        lines = [json.dumps({"messages": chat}) + "\n" for chat in chats]
        (out / f"{name}.jsonl").write_text("".join(lines))
        print(f"{name}.jsonl: {len(lines)} prompts about {len(part)} topics")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: prompts.py OUT_DIR")
    main(Path(sys.argv[1]))
