import { beforeAll, describe, expect, it } from 'vitest';
import type { SearchHit, SearchPart } from '../../api/routes/search.ts';
import { makeAccount, rootPairOf } from '../../testing/account.ts';
import { send } from '../../testing/checked-client.ts';
import { sharedPlatform } from '../../testing/platform.ts';
import { type Body, grant } from '../../testing/tenant.ts';

const platform = sharedPlatform({ seed: 'demo' });
let executionId: string;
let contactForm: Body;

const partsOf = async (q: string, auth = rootPairOf(platform)): Promise<SearchPart[]> => {
  const { baseUrl } = platform.emulator;
  const { body } = await send('GET', `${baseUrl}/inspect/search?q=${encodeURIComponent(q)}`, { auth });
  return String(body)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
};
const search = async (q: string, auth?: string): Promise<SearchHit[]> =>
  (await partsOf(q, auth)).flatMap(({ hits }) => hits);
const kindsOf = (hits: SearchHit[]) => [...new Set(hits.map(({ kind }) => kind))].sort();

beforeAll(async () => {
  const payload = { firstName: 'Zoë', lastName: 'O\'Neil "Z"', email: 'zoe+trial@example.com', message: 'über alles' };
  const answer = await send('POST', `${platform.emulator.gatewayUrl}/website/lead`, { body: { payload } });
  executionId = answer.headers.get('x-terrarium-execution-id') ?? '';
  const { body } = await platform.root.get('/demo/lambdas?expand=true');
  contactForm = body.find(({ name }: Body) => name === 'contact-form');
});

describe('GET /inspect/search', () => {
  it('finds an email address on its whole way, although the form of the CRM call is encoded', async () => {
    const hits = await search('ZOE+trial@example.com');
    expect(kindsOf(hits)).toEqual(expect.arrayContaining(['call', 'invocation', 'lead', 'request']));
    expect(new Set(hits.map((hit) => hit.executionId))).toEqual(new Set([executionId]));
    const [call] = hits.filter(({ kind }) => kind === 'call');
    expect(call?.excerpt).toContain('zoe+trial@example.com');
  });

  it('finds text as people write it, in any order of the words', async () => {
    for (const q of ['zoë', 'ÜBER alles', '"über alles"', 'alles zoe+trial', 'O\'Neil "Z"'])
      expect(kindsOf(await search(q)), q).toEqual(expect.arrayContaining(['call', 'invocation', 'lead', 'request']));
    expect(await search('"alles über"')).toEqual([]);
  });

  it('finds ids, commit numbers, paths, and the source of a lambda', async () => {
    expect(kindsOf(await search(executionId))).toEqual(expect.arrayContaining(['invocation', 'lead']));
    expect(await search(contactForm.id)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'resource', id: contactForm.id, title: 'contact-form' }),
      ]),
    );
    expect(await search('#1')).toMatchObject([{ kind: 'commit', id: '1' }]);
    const { body: history } = await platform.root.get('/../inspect/history?limit=1');
    const [{ seq, sentence }] = history.commits;
    expect(await search(sentence)).toContainEqual(expect.objectContaining({ id: String(seq), title: sentence }));
    expect(kindsOf(await search('/website/lead'))).toContain('request');
    expect(await search('exports.run CRM_OID')).toEqual(
      expect.arrayContaining([expect.objectContaining({ kind: 'resource', id: contactForm.id })]),
    );
  });

  it('says when it is complete, with the number of matches of each kind', async () => {
    const parts = await partsOf('zoe+trial@example.com');
    expect(parts.map(({ isComplete }) => isComplete).indexOf(true)).toBe(parts.length - 1);
    const { searched, total, found } = parts.at(-1) ?? {};
    expect(searched).toBe(total);
    expect(found).toMatchObject({ lead: 1, call: 1, invocation: 1 });
    // Progress comes before the end on a slow machine.
    const noParts = await partsOf('no such text anywhere');
    expect(noParts.at(-1)).toMatchObject({ hits: [], found: {}, isComplete: true });
    expect(await partsOf(' ')).toMatchObject([{ hits: [], searched: 0, isComplete: true }]);
  });

  it('shows users only what they can view, and never a secret', async () => {
    const viewer = await makeAccount(platform, 'guest');
    expect(await search('zoe+trial@example.com', viewer.bearer)).toEqual([]);
    await grant(platform.root, `/demo/lambdas/${contactForm.id}`, 'lambda.view', viewer.id);
    expect(kindsOf(await search('zoe+trial@example.com', viewer.bearer))).toEqual(['call', 'invocation', 'lead']);
    expect(kindsOf(await search('contact-form', viewer.bearer))).not.toContain('request');
    await platform.root.patch(`/root/users/${viewer.id}`, [
      { op: 'add', path: '/properties/password', value: 'Tulip-4711-tulip' },
    ]);
    expect(await search('Tulip-4711-tulip')).toEqual([]);
    expect(await search('scrypt')).toEqual([]);
  });
});
