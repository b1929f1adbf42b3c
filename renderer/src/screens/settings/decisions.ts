import { type Block, blocksIn } from './markdown.ts';

/** One thing that the platform's specification leaves open, and what was decided. */
export interface ContractDecision {
  /** E.g. `D-213`, as code, tests and messages cite it. */
  id: string;
  /** A sentence; may hold `code`. */
  text: string;
}

/** Decisions about one subject. */
export interface ContractSection {
  title: string;
  decisions: readonly ContractDecision[];
}

/** A choice of how this platform was made, with its reason. */
export interface Choice {
  /** The name of its file: `walking-back`. */
  id: string;
  title: string;
  /** As it was written, to be searched. */
  text: string;
  blocks: readonly Block[];
}

const DECISION = /^- (?:<a id="[^"]*"><\/a>)?\*\*(D-\d{3})\*\* (.+)$/;

/** The decisions in docs/contract.md, section by section. */
export function contractSections(markdown: string): ContractSection[] {
  const sections: { title: string; decisions: ContractDecision[] }[] = [];
  for (const line of markdown.split('\n')) {
    if (line.startsWith('## ')) sections.push({ title: line.slice(3), decisions: [] });
    const [, id, text] = DECISION.exec(line) ?? [];
    if (id && text) sections.at(-1)?.decisions.push({ id, text });
  }
  return sections.filter(({ decisions }) => decisions.length > 0);
}

/** A file of docs/decisions. @param path its path, of which the last name counts */
export function choiceOf(path: string, markdown: string): Choice {
  const id = /([^/]*)\.md$/.exec(path)?.[1] ?? path;
  const [heading = id, ...rest] = markdown.trim().split('\n');
  const text = rest.join('\n').trim();
  return { id, title: heading.replace(/^#+\s*/, ''), text, blocks: blocksIn(text) };
}

/** What a person may have typed or followed, as the ids are written: `d-213` is `D-213`. */
export function asDecisionId(id: string): string {
  return /^d-\d{3}$/i.test(id) ? id.toUpperCase() : id;
}
