import type { Operation } from 'fast-json-patch';
import { expect, it } from 'vitest';
import type { Commit } from '../commit.ts';
import { commitSentence } from './commit-sentence.ts';

const ID = '6f0d0a9e-53bb-4b0c-9d66-1a9e3a0d7c55';
const at = (path: string) => `/resources/${ID}${path}`;
const commit = (ops: Operation[], inverse: Operation[], cause: Partial<Commit['cause']> = {}): Commit => ({
  seq: 1,
  atMs: 0,
  cause: { actor: { id: ID, name: 'root' }, via: 'api', ...cause },
  ops,
  inverse,
  resources: [{ id: ID, type: 'Resource::Node::Lambda', name: 'contact-form', path: '/demo/contact-form' }],
});
const modified: Operation = { op: 'replace', path: at('/modified/at'), value: 'now' };
const properties = (name: string, value: unknown): Operation => ({
  op: 'replace',
  path: at(`/properties/${name}`),
  value,
});

it.each<[string, Commit]>([
  [
    'root changed contact-form: timeout 5 → 10 s',
    commit([properties('timeout', 10), modified], [properties('timeout', 5)]),
  ],
  ['root changed contact-form: removed CRM_OID', commit([{ op: 'remove', path: at('/properties/env/CRM_OID') }], [])],
  ['root changed contact-form: changed the code', commit([properties('code', 'b')], [properties('code', 'a')])],
  ['root changed contact-form: changed password', commit([properties('password', 'b')], [properties('password', 'a')])],
  ['root created contact-form', commit([{ op: 'add', path: at(''), value: {} }], [])],
  ['root deleted contact-form', commit([{ op: 'remove', path: at('') }], [])],
  ['root reverted commit 3', commit([], [], { note: 'revert of commit 3' })],
  ['root restored snapshot before-demo', commit([], [], { note: 'restore of snapshot before-demo' })],
  ["root reset the world to the seed 'demo'", commit([], [], { note: "reset to the seed 'demo'" })],
  ['root: an older note', commit([], [], { note: 'an older note' })],
  [
    'The platform (startup) changed contact-form: memory 512 MB',
    commit([{ op: 'add', path: at('/properties/memory'), value: 512 }], [], { actor: null, via: 'startup' }),
  ],
])('says of a commit: %s', (sentence, commit) => {
  expect(commitSentence(commit)).toBe(sentence);
});
