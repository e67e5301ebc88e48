"""Puts the mutants of one file behind their switches."""

import tree_sitter
import tree_sitter_rust

IS = "crate::mutant::is"
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
OPERATIONS = ("binary_expression", "compound_assignment_expr")


class File:
    """A source file, its mutants, and the text that has them all."""

    def __init__(self, text, mutants):
        self.text = text
        self.tree = PARSER.parse(text).root_node
        self.lines = text.split(b"\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.nodes = list(every(self.tree))
        self.beginning = {}
        for node in self.nodes:
            self.beginning.setdefault(node.start_byte, []).append(node)
        # Mutants by the node that they rewrite.
        self.mutants = {}
        # Mutants that have no place in the rewritten text.
        self.left_out = []
        self.out = bytearray()
        # The range of each mutant in the new text: begin, end, number.
        self.ranges = []
        for mutant in mutants:
            node = self.place(mutant)
            if node is None:
                self.left_out.append(mutant["id"])
            else:
                self.mutants.setdefault(node.id, []).append(mutant)
        self.emit(text[: self.tree.start_byte])
        self.walk(self.tree)
        self.emit(text[self.tree.end_byte :])

    def offset(self, position):
        """The byte of a line and a column in characters, both from 1."""
        line = self.lines[position["line"] - 1].decode()
        return self.starts[position["line"] - 1] + len(line[: position["column"] - 1].encode())

    def place(self, mutant):
        """The node that a mutant changes; None if it cannot be behind a condition."""
        begin, end = (self.offset(mutant["span"][side]) for side in ("start", "end"))
        mutant["begin"], mutant["end"] = begin, end
        here = self.beginning.get(begin, [])
        match mutant["genre"]:
            case "BinaryOperator":
                found = (
                    node.parent
                    for node in here
                    if not node.is_named and node.end_byte == end and node.parent.type in OPERATIONS
                )
            case "UnaryOperator":
                found = (node for node in here if node.type == "unary_expression")
            case "MatchArm":
                found = (node for node in here if node.type == "match_arm")
            case "MatchArmGuard":
                found = (node for node in self.nodes if self.is_guard(node, begin, end))
            case "FnValue":
                found = (node for node in self.nodes if self.is_body(node, begin, end))
            case _:
                return None
        return next(found, None)

    def is_body(self, node, begin, end):
        if node.type != "block" or node.parent.type != "function_item":
            return False
        inside = self.text[node.start_byte + 1 : begin] + self.text[end : node.end_byte - 1]
        return node.start_byte < begin and end < node.end_byte and not inside.strip()

    @staticmethod
    def is_guard(node, begin, end):
        guard = node.child_by_field_name("condition") if node.type == "match_pattern" else None
        return guard is not None and guard.start_byte <= begin and end <= guard.end_byte

    def emit(self, text):
        self.out.extend(text if isinstance(text, bytes) else text.encode())

    def emit_mutant(self, mutant, text):
        begin = len(self.out)
        self.emit(text)
        self.ranges.append((begin, len(self.out), mutant["id"]))

    def raw(self, node):
        return self.text[node.start_byte : node.end_byte]

    def children(self, node, instead=None):
        """The node as it is, its children rewritten; `instead` rewrites one of them."""
        at = node.start_byte
        for child in node.children:
            self.emit(self.text[at : child.start_byte])
            if instead is None or not instead(child):
                self.walk(child)
            at = child.end_byte
        self.emit(self.text[at : node.end_byte])

    def walk(self, node):
        mutants = self.mutants.get(node.id)
        if not mutants:
            return self.children(node)
        match node.type:
            case "block":
                self.body(node, mutants)
            case "match_arm":
                self.arm(node, mutants[0])
            case "match_pattern":
                self.children(node, lambda child: self.guard(node, child))
            case _:
                self.operation(node, mutants)

    def operation(self, node, mutants):
        """`(if is(7) { a - b } else { a + b })`: mutants inside the operands are only in the last branch."""
        self.emit("(")
        for mutant in mutants:
            if node.type == "unary_expression":
                changed = self.raw(node.children[-1])
            else:
                before, after = self.text[node.start_byte : mutant["begin"]], self.text[mutant["end"] : node.end_byte]
                changed = before + mutant["replacement"].encode() + after
            self.emit("if ")
            self.emit_mutant(mutant, f"{IS}({mutant['id']}) {{ ".encode() + changed + b" }")
            self.emit(" else ")
        self.emit("{ ")
        self.children(node)
        self.emit(" })")

    def body(self, node, mutants):
        """A function that returns at once; one that returns some iterator returns an empty one of the same type."""
        returns = mutants[0]["function"]["return_type"] or ""
        if "impl Iterator" not in returns:
            self.emit("{")
            for mutant in mutants:
                self.emit(" ")
                self.emit_mutant(mutant, f"if {IS}({mutant['id']}) {{ return {mutant['replacement']}; }}")
            self.emit("\n")
            self.children(node, lambda child: child.start_byte == node.start_byte)
            return
        empty = next((it for it in mutants if it["replacement"].endswith("::empty()")), None)
        self.left_out.extend(it["id"] for it in mutants if it is not empty)
        if empty is None or "Option" in returns:
            return self.children(node)
        self.emit("{ (")
        self.children(node)
        self.emit(").filter(move |_| ")
        self.emit_mutant(empty, f"!{IS}({empty['id']})")
        self.emit(") }")

    def arm(self, node, mutant):
        pattern = node.child_by_field_name("pattern")

        def instead(child):
            if child.id != pattern.id:
                return False
            if pattern.child_by_field_name("condition") is None:
                self.children(pattern)
                self.emit(" if ")
                self.emit_mutant(mutant, f"!{IS}({mutant['id']})")
            else:
                self.children(pattern, lambda it: self.guard(pattern, it, mutant))
            return True

        self.children(node, instead)

    def guard(self, pattern, child, arm=None):
        """The condition of an arm: with its mutants, and with that of the whole arm."""
        condition = pattern.child_by_field_name("condition")
        if child.id != condition.id:
            return False
        if arm is not None:
            self.emit_mutant(arm, f"!{IS}({arm['id']})")
            self.emit(" && ")
        self.emit("(")
        mutants = self.mutants.get(pattern.id, [])
        for mutant in sorted(mutants, key=lambda it: it["replacement"] == "false"):
            word = f"!{IS}({mutant['id']}) && " if mutant["replacement"] == "false" else f"{IS}({mutant['id']}) || "
            self.emit_mutant(mutant, word)
        self.emit("(")
        self.walk(condition)
        self.emit("))")
        return True


def every(node):
    """The node and all below it."""
    yield node
    for child in node.children:
        yield from every(child)
