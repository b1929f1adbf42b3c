import { isAlias, isCollection, isNode, isPair, type ParsedNode, Parser } from 'yaml';
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from './json.ts';

/** Maximum number of words, marks and spaces: each takes hundreds of bytes in memory while a document is read. */
const MAX_TOKENS = 2_000_000;
/** A text with more is not YAML. The reader needs a time that grows with their square. */
const MAX_ERRORS = 10;
/** Plenty for people. */
const MAX_ALIASES = 1000;
/** Maximum length of a text with what its aliases repeat. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/**
 * Returns the reason why a YAML text exceeds the limits of input, and the line; undefined if it does not. Keeps nothing
 * of the text in memory.
 */
export function faultOfYaml(text: string): { reason: string; line: number } | undefined {
  let line = 0;
  const parser = new BoundedParser(() => {
    line += 1;
  });
  try {
    for (const _token of parser.parse(text));
  } catch (fault) {
    if (fault instanceof LimitExceeded) return { reason: fault.message, line };
    throw fault;
  }
  return undefined;
}

/**
 * Returns why and at which offset a YAML document exceeds the limits of input once its aliases are expanded; undefined if it does not.
 * Needs a time that grows with the document only, in contrast to the library, whose own limit does not restrict the depth.
 */
export function faultOfAliases(contents: ParsedNode | null): { reason: string; offset: number } | undefined {
  const anchors = new Map<string, ExpandedSize>();
  let aliases = 0;
  let offset = 0;
  const sizeOf = (node: unknown): ExpandedSize => {
    if (isNode(node)) offset = node.range?.[0] ?? offset;
    if (isAlias(node)) {
      aliases += 1;
      if (aliases > MAX_ALIASES) throw new LimitExceeded(`it has more than ${MAX_ALIASES} aliases`);
      const size = anchors.get(node.source);
      if (!size) throw new LimitExceeded(`the alias '*${node.source}' has no complete anchor before it`);
      return size;
    }
    if (!isCollection(node)) {
      const [start = 0, end = start] = (isNode(node) && node.range) || [];
      const size = { depth: 0, values: 1, characters: end - start };
      if (isNode(node) && 'anchor' in node && node.anchor) anchors.set(node.anchor, size);
      return size;
    }
    // Within a node, its anchor does not mean an earlier one of that name.
    if (node.anchor) anchors.delete(node.anchor);
    let [depth, values, characters] = [0, 1, 0];
    for (const item of node.items) {
      for (const member of isPair(item) ? [item.key, item.value] : [item]) {
        const size = sizeOf(member);
        depth = Math.max(depth, size.depth);
        values += size.values;
        characters += size.characters;
      }
    }
    depth += 1;
    if (depth > MAX_JSON_DEPTH) throw new LimitExceeded(`its aliases nest deeper than ${MAX_JSON_DEPTH} levels`);
    if (values > MAX_JSON_VALUES)
      throw new LimitExceeded(`its aliases expand to more than ${MAX_JSON_VALUES} members and elements`);
    if (aliases > 0 && characters > MAX_CHARACTERS)
      throw new LimitExceeded(`its aliases expand to more than ${MAX_CHARACTERS} characters`);
    const expanded = { depth, values, characters };
    if (node.anchor) anchors.set(node.anchor, expanded);
    return expanded;
  };
  try {
    sizeOf(contents);
  } catch (fault) {
    if (fault instanceof LimitExceeded) return { reason: fault.message, offset };
    throw fault;
  }
  return undefined;
}

interface ExpandedSize {
  depth: number;
  values: number;
  characters: number;
}

class LimitExceeded extends Error {}

class BoundedParser extends Parser {
  #tokens = 0;
  #errors = 0;

  override *next(source: string) {
    this.#tokens += 1;
    if (this.#tokens > MAX_TOKENS) throw new LimitExceeded(`it has more than ${MAX_TOKENS} words and marks`);
    if (this.stack.length > MAX_JSON_DEPTH)
      throw new LimitExceeded(`it is nested deeper than ${MAX_JSON_DEPTH} levels`);
    for (const token of super.next(source)) {
      if (token.type === 'error') this.#errors += 1;
      if (this.#errors > MAX_ERRORS)
        throw new LimitExceeded(`it is not well-formed YAML in more than ${MAX_ERRORS} places`);
      yield token;
    }
  }
}
