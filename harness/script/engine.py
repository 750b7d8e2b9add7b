# mypy: ignore-errors
# ruff: noqa: RUF012, E402
"""What a script carries with it. Not used by the harness itself; the parts between ``# <name>`` and ``# </name>`` are copied.

A small sibling of the controller: one thread has the turn; a trace function in the few functions that the order speaks of
counts how often an instruction was executed, and gives the turn away at the next place where the interpreter could give
up the GIL: the start of a function, the return from C code, a backward jump.
"""

from __future__ import annotations

_race_data: dict = {}

# <stand-ins>
import typing as _race_typing


class Scenario:
    def __init__(self, bodies, setup=None, check=None, fork_after_setup=False, prepare=None, **_ignored):
        self.bodies, self.setup, self.check, self.prepare = bodies, setup, check, prepare


def marker(name):
    _Race.marker(name)


def thread_index():
    return _Race.index()


Axes = Plain = _race_typing.Any
TORCH_MODULES = ()
# </stand-ins>

# <engine>
class _Race:
    import dis
    import gc
    import re
    import sys
    import threading

    data = _race_data
    calls = ("CALL", "CALL_FUNCTION_EX", "CALL_KW", "CALL_FUNCTION", "CALL_METHOD", "CALL_FUNCTION_KW")
    threads = []
    by_ident = {}
    gates = []  # a lock for each thread, free while it has the turn
    errors = []
    passed = set()
    ended = set()
    main = None

    @classmethod
    def index(cls):
        me = cls.by_ident.get(cls.threading.get_ident())
        return -1 if me is None else me.number

    @classmethod
    def marker(cls, name):
        me = cls.by_ident.get(cls.threading.get_ident())
        if me is not None:
            me.point("marker:" + name)
            me.place()

    def __init__(self, number):
        self.number, self.name = number, f"T{number}"
        self.counts, self.pending, self.starts = {}, [], 0
        self.frames = {}
        self.result = None

    # -------------------------------------------------------- points, places, turns

    def point(self, key):
        n = self.counts[key] = self.counts.get(key, 0) + 1
        for at, directive in enumerate(self.data["directives"]):
            if (directive["thread"], directive["point"], directive["n"]) == (self.name, key, n):
                self.passed.add(at)
                self.pending.append(directive["does"])

    def place(self):
        pending, self.pending = self.pending, []
        for does in pending:
            if does.startswith("gc"):
                self.sys.call_tracing(self.gc.collect, (int(does[2:]),))
                continue
            target = int(does[1:])
            if target not in self.ended:
                self.gates[target].release()
                self.gates[self.number].acquire()

    def end(self):
        self.ended.add(self.number)
        self.point("end")
        asked = [int(does[1:]) for does in self.pending if not does.startswith("gc")]
        left = [n for n in range(self.data["threads"]) if n not in self.ended]
        if left:
            self.gates[next((n for n in asked if n in left), left[0])].release()
        else:
            self.main.release()

    def live(self, body, shared):
        self.by_ident[self.threading.get_ident()] = self
        self.gates[self.number].acquire()
        try:
            if self.tool is None:
                self.sys.settrace(self.on_call)
            try:
                self.result = body(shared)
            finally:
                self.by_ident.pop(self.threading.get_ident(), None)
                self.sys.settrace(None)
        except BaseException as error:
            self.errors.append((self.name, error))
        self.end()

    # -------------------------------------------------------- what a thread executes

    def begin(self, code):
        """A function starts, or a generator goes on. Returns what is watched in it."""
        self.starts += 1
        if self.pending:
            self.place()
        watched = self.watched.get(id(code))
        if watched is None:
            watched = self.watched[id(code)] = self.places_in(code)
            self.kept.append(code)
            if watched and self.tool is not None:
                of = self.sys.monitoring.events
                self.sys.monitoring.set_local_events(self.tool, code, of.INSTRUCTION | of.PY_RETURN | of.PY_YIELD)
        for key in watched.get("start", ()):
            self.point(key)
            self.place()
        return watched

    def step(self, watched, last, offset):
        """The instruction at ``offset`` comes next; ``last`` is (offset, starts) of the one before in this frame."""
        before, starts = last
        if before is None:
            return
        op, follows = watched["ops"][before]
        back = offset <= before
        here = back or (op in self.calls and offset == follows and self.starts == starts)
        if here:
            self.place()
        for kind, key in watched.get(before, ()):
            if here if kind in ("call", "jump") else offset == follows:
                self.point(key)
        if here:
            self.place()

    def on_call(self, frame, event, arg):
        """By ``sys.settrace``, up to Python 3.11."""
        watched = self.begin(frame.f_code)
        if not watched:
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        last = (None, 0)

        def on_event(frame, event, arg):
            nonlocal last
            if event == "opcode":
                self.step(watched, last, frame.f_lasti)
                last = (frame.f_lasti, self.starts)
            elif event == "return":
                for key in watched.get("return", ()):
                    self.point(key)
            return on_event

        return on_event

    tool = None

    @classmethod
    def monitor(cls):
        """By ``sys.monitoring``, from Python 3.12 on."""
        cls.tool, monitoring, of = 4, cls.sys.monitoring, cls.sys.monitoring.events
        find, ident, getframe = cls.by_ident.get, cls.threading.get_ident, cls.sys._getframe

        def start(code, offset):
            me = find(ident())
            if me is not None and me.begin(code):
                me.frames[id(getframe(1))] = (None, 0)

        def instruction(code, offset):
            me = find(ident())
            if me is not None and (watched := cls.watched.get(id(code))):
                frame = id(getframe(1))
                me.step(watched, me.frames.get(frame, (None, 0)), offset)
                me.frames[frame] = (offset, me.starts)

        def leave(code, offset, value):
            me = find(ident())
            if me is not None and (watched := cls.watched.get(id(code))):
                for key in watched.get("return", ()):
                    me.point(key)

        monitoring.use_tool_id(cls.tool, "race")
        for event, callback in (
            (of.PY_START, start), (of.PY_RESUME, start), (of.INSTRUCTION, instruction),
            (of.PY_RETURN, leave), (of.PY_YIELD, leave),
        ):  # fmt: skip
            monitoring.register_callback(cls.tool, event, callback)
        monitoring.set_events(cls.tool, of.PY_START | of.PY_RESUME)
        return [start, instruction, leave]

    watched = {}
    kept = []

    @classmethod
    def places_in(cls, code):
        """What is to be counted in this code object: offset -> (kind, point), and all its operations by offset."""
        found = {}
        name = getattr(code, "co_qualname", code.co_name)
        for directive in cls.data["directives"]:
            for place in directive["places"]:
                same = place["function"] == name if "." in name else place["function"].endswith(name)
                if not same or not cls.is_file(code.co_filename, place["file"]):
                    continue
                if place["at"] in ("start", "return"):
                    if directive["point"] not in found.setdefault(place["at"], []):
                        found[place["at"]].append(directive["point"])
                    continue
                like = [i.offset for i in cls.dis.get_instructions(code) if (i.opname, i.argrepr) == (place["op"], place["name"])]
                if place["ordinal"] < len(like):
                    here = found.setdefault(like[place["ordinal"]], [])
                    if (place["at"], directive["point"]) not in here:
                        here.append((place["at"], directive["point"]))
        if found:
            steps = list(cls.dis.get_instructions(code))
            after = [i.offset for i in steps[1:]] + [None]
            found["ops"] = {i.offset: (i.opname, follows) for i, follows in zip(steps, after, strict=True)}
        return found

    @staticmethod
    def is_file(file, wanted):
        return file.replace("\\", "/").endswith("/" + wanted) if wanted else file == __file__

    @classmethod
    def hide_from_dynamo(cls, callbacks):
        """Dynamo's frame hook would be handed these trace functions: tell it to skip them."""
        hook = cls.sys.modules.get("torch._dynamo.eval_frame")
        skip = getattr(hook, "skip_code", None)
        todo = [getattr(f, "__func__", f).__code__ for f in vars(cls).values() if hasattr(getattr(f, "__func__", f), "__code__")]
        todo += [f.__code__ for f in (marker, thread_index, *callbacks)]
        while skip is not None and todo:
            code = todo.pop()
            skip(code)
            todo += [const for const in code.co_consts if hasattr(const, "co_code")]

    # -------------------------------------------------------- the run, and what it showed

    @classmethod
    def value(cls, state):
        """In a few words, the same in every process; by the same rule before and after."""
        getter = state.endswith("()")
        parts = state.removesuffix("()").split(".")
        for cut in range(len(parts) - 1, 0, -1):
            name = ".".join(parts[:cut])
            owner = cls.sys.modules.get("__main__" if name == cls.data["module"] else name)
            if owner is not None:
                for part in parts[cut:-1]:
                    owner = vars(owner).get(part, cls)
                found = vars(owner).get(parts[-1], "unset")
                found = found() if getter else found
                code = getattr(found, "__code__", None)
                plain = found is None or isinstance(found, (bool, int, float, str))
                if code is not None:
                    return f"{found.__qualname__} ({code.co_name})"
                return repr(found) if plain else f"{type(found).__name__} {getattr(found, '__qualname__', '')}"
        return "unset"

    @classmethod
    def template(cls, message):
        line = message.strip().splitlines()[0] if message.strip() else ""
        line = cls.re.sub(r"0x[0-9a-fA-F]+", "<address>", line)
        line = cls.re.sub(r"(/[\w.+-]+)+/?", "<path>", line)
        return cls.re.sub(r"\d+", "<n>", line)[:160]

    @classmethod
    def run(cls, scenario):
        data = cls.data
        if scenario.prepare is not None:
            scenario.prepare()
        cls.hide_from_dynamo(cls.monitor() if cls.sys.version_info >= (3, 12) else [])
        cls.gc.disable()
        cls.sys.unraisablehook = lambda args: cls.errors.append(("finalizer", args.exc_value))
        shared = scenario.setup(data["axes"]) if scenario.setup is not None else None
        states = data["expected"].get("states", [])
        before = {state: cls.value(state) for state in states}
        cls.threads = [cls(number) for number in range(data["threads"])]
        cls.main = cls.threading.Lock()
        cls.main.acquire()
        for me in cls.threads:
            gate = cls.threading.Lock()
            gate.acquire()
            cls.gates.append(gate)
            body = scenario.bodies[me.number % len(scenario.bodies)]
            cls.threading.Thread(target=me.live, args=(body, shared), name=me.name, daemon=True).start()
        cls.gates[data["first"]].release()
        cls.main.acquire()
        if scenario.check is not None:
            try:
                scenario.check(shared, [me.result for me in cls.threads])
            except Exception as error:
                cls.errors.append(("check", error))
        changed = {state: (before[state], cls.value(state)) for state in states if cls.value(state) != before[state]}
        return cls.judge(changed)

    @classmethod
    def judge(cls, changed):
        """1: the failure that was looked for; 0: it did not happen; 2: a point of the order was never passed."""
        import traceback

        expected = cls.data["expected"]
        hit = expected["kind"] == "state leaked" and set(changed) == set(expected["states"])
        for thread, error in cls.errors:
            print(f"--- in {thread}:")
            traceback.print_exception(type(error), error, error.__traceback__, file=cls.sys.stdout)
            if expected["kind"] == "state leaked":
                continue
            kind = "wrong value" if isinstance(error, AssertionError) and thread == "check" else "error"
            same = (kind, type(error).__name__, cls.template(str(error))) == (
                expected["kind"], expected["type"], expected["message"],
            )  # fmt: skip
            hit = hit or (same and (thread == expected["thread"] or thread == "finalizer"))
        for state, (was, now) in changed.items():
            print(f"--- left changed: {state} was {was}, is {now}")
        missed = [d for at, d in enumerate(cls.data["directives"]) if at not in cls.passed]
        if hit:
            print("REPRODUCED:", expected["kind"])
            return 1
        if missed:
            made = ", ".join(f"{name} {version}" for name, version in cls.data["made for"].items() if version)
            print(f"NOT ALIGNED: {missed[0]['thread']} never passed {missed[0]['point']} for the {missed[0]['n']}. time; made for {made}")
            return 2
        print("NOT REPRODUCED" + (": another failure happened" if cls.errors or changed else ""))
        return 0


if __name__ == "__main__":
    _race_status = _Race.run(globals()[_race_data["scenario"]])
    _Race.sys.stdout.flush()
    _Race.sys.exit(_race_status)
# </engine>
