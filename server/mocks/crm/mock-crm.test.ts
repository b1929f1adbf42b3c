import { once } from 'node:events';
import { type RequestOptions, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FORM_HEADER } from '../../model/crm-form.ts';
import { EXECUTION_HEADER } from '../../model/execution-header.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { type Certificate, makeCertificate } from '../certificate.ts';
import { type Lead, type LeadFilter, parseLead, type RefusedForm } from './lead.ts';
import { MockCrm } from './mock-crm.ts';

const FORM_PATH = '/servlet/servlet.WebToLead';
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const EXECUTION = '2f6b4c1e-0000-4000-8000-00000000000a';
const LAMBDA = '2f6b4c1e-0000-4000-8000-00000000000b';
const START_MS = Date.UTC(2026, 0, 15, 9, 30);

describe('the mock CRM', () => {
  let certificate: Certificate;
  let leads: MemoryLog<Lead>;
  let refusedForms: MemoryLog<RefusedForm>;
  let changes: number;
  let nowMs: number;
  const senders = new Map([[EXECUTION, { lambdaId: LAMBDA, lambdaName: 'web-form', event: '{}', crmOid: '1' }]]);
  let crm: MockCrm;
  let port: number;

  beforeAll(async () => {
    certificate = await makeCertificate(Date.now());
  });
  beforeEach(async () => {
    leads = new MemoryLog();
    refusedForms = new MemoryLog();
    changes = 0;
    nowMs = START_MS;
    let count = 0;
    crm = new MockCrm({
      leads,
      refusedForms,
      certificate: async () => certificate,
      allowedHosts: new Set(),
      nowMs: () => nowMs,
      newId: () => `lead-${++count}`,
      senderOf: (executionId) => senders.get(executionId),
      onChange: () => {
        changes += 1;
      },
    });
    ({ port } = await crm.start({ host: '127.0.0.1', port: 0 }));
  });
  afterEach(() => crm.stop());

  async function send(body: string | Buffer, options: RequestOptions = {}) {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      ca: certificate.certPem,
      method: 'POST',
      path: FORM_PATH,
      headers: FORM,
      ...options,
    });
    outgoing.end(body);
    const [response] = await once(outgoing, 'response');
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  }

  const form = (fields: Record<string, string>) =>
    new URLSearchParams({ oid: '00D5g00000EXAMPLE', ...fields }).toString();

  it('refuses a browser whose page has another host name, and no lambda that names one', async () => {
    const sentTo = async (host: string, more = {}) =>
      (await send(form({ oid: '1' }), { servername: 'localhost', headers: { ...FORM, Host: host, ...more } })).status;
    const ofBrowser = { 'Sec-Fetch-Site': 'same-origin' };
    expect(await sentTo('attacker.example', ofBrowser)).toBe(403);
    expect(await sentTo('localhost', ofBrowser)).not.toBe(403);
    expect(await sentTo('crm.example.com')).not.toBe(403);
    expect(leads.size).toBe(2);
  });

  it('finds the invocation of an intercepted call, and its data', async () => {
    await send(form({ email: 'a@x' }), { headers: { ...FORM, [EXECUTION_HEADER]: EXECUTION.toUpperCase() } });
    await send(form({ email: 'b@x' }), { headers: { ...FORM, [EXECUTION_HEADER]: LAMBDA } });
    await send(form({ email: 'c@x' }), { headers: { ...FORM, [EXECUTION_HEADER]: 'nonsense' } });
    const [knownSender, unknown, none] = crm.listLeads();
    expect(knownSender).toMatchObject({ executionId: EXECUTION, sender: { lambdaId: LAMBDA, lambdaName: 'web-form' } });
    expect(unknown).toMatchObject({ executionId: LAMBDA });
    expect(unknown).not.toHaveProperty('sender');
    expect(none).not.toHaveProperty('executionId');
    expect(crm.listLeads({ executionId: EXECUTION })).toEqual([knownSender]);
    expect(parseLead({ ...knownSender, id: LAMBDA })).toEqual({ ...knownSender, id: LAMBDA });
  });

  it('keeps a rejected form apart from the leads, with the response of its sender', async () => {
    const refused = { isRefused: true };
    const answer = await send('oid=&first_name=Ada&email=a%40x', {
      headers: { ...FORM, [EXECUTION_HEADER]: EXECUTION },
    });
    await send('{}', { headers: { 'Content-Type': 'application/json' } });
    await send(form({}), { path: '/servlet/elsewhere' });
    await send('', { method: 'GET' });
    expect(crm.listLeads()).toEqual([]);
    const [withoutOid, json, elsewhere, ...none] = crm.listLeads(refused);
    expect(none).toEqual([]);
    expect(withoutOid).toMatchObject({
      mapped: { firstName: 'Ada', email: 'a@x' },
      executionId: EXECUTION,
      sender: { lambdaName: 'web-form' },
      refused: { status: 400, message: answer.body.trim() },
    });
    expect(withoutOid).not.toHaveProperty('oid');
    expect(json).toMatchObject({ fields: [], refused: { status: 415 } });
    expect(elsewhere).toMatchObject({ source: { path: '/servlet/elsewhere' }, refused: { status: 404 } });
    expect(changes).toBe(3);

    expect(await crm.deleteLead(json?.id ?? '')).toBe(true);
    await send(form({}));
    expect(await crm.deleteLeads()).toBe(3);
    expect(crm.listLeads(refused)).toEqual([]);
  });

  it('responds with the reason of a rejection even when the disk is full', async () => {
    refusedForms.durable = () => Promise.reject(new Error('ENOSPC'));
    expect(await send('email=a%40x')).toMatchObject({ status: 400, body: expect.stringContaining("'oid'") });
  });

  it('deletes one lead, or all of them, and says so', async () => {
    for (const email of ['a@x', 'b@x', 'c@x']) await send(form({ email }));
    const [first] = crm.listLeads();
    expect(await crm.deleteLead(first?.id ?? '')).toBe(true);
    expect(await crm.deleteLead(first?.id ?? '')).toBe(false);
    expect(crm.listLeads().map(({ mapped }) => mapped.email)).toEqual(['b@x', 'c@x']);
    expect(changes).toBe(4);
    expect(await crm.deleteLeads()).toBe(2);
    expect(crm.listLeads()).toEqual([]);
    expect(changes).toBe(5);
  });

  it('keeps a lead and answers as the form does', async () => {
    const answer = await send(
      form({
        lead_source: 'Website',
        first_name: 'Zoë',
        last_name: 'Ortega & Söhne',
        company: 'Fern + Moss',
        email: 'zoe@example.com',
        title: 'Buyer',
        phone: '+1 555 0100',
        employees: '25',
        '00N5g00000XXXXX': 'Do you ship 100%?',
      }),
      { path: `${FORM_PATH}?encoding=UTF-8`, headers: { ...FORM, Host: 'crm.example.com' }, servername: 'localhost' },
    );
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(crm.listLeads()).toEqual([
      {
        id: 'lead-1',
        receivedAt: '2026-01-15T09:30:00.000Z',
        oid: '00D5g00000EXAMPLE',
        fields: expect.arrayContaining([{ name: 'first_name', value: 'Zoë' }]),
        mapped: {
          leadSource: 'Website',
          firstName: 'Zoë',
          lastName: 'Ortega & Söhne',
          company: 'Fern + Moss',
          email: 'zoe@example.com',
          title: 'Buyer',
          phone: '+1 555 0100',
          size: '25',
          message: 'Do you ship 100%?',
        },
        source: { host: 'crm.example.com', path: '/servlet/servlet.WebToLead?encoding=UTF-8' },
        remote: '127.0.0.1',
      },
    ]);
    expect(changes).toBe(crm.listLeads().length);
  });

  it('keeps every field in order, repeated and empty ones too, and maps the first', async () => {
    await send('b=1&oid=o&email=first%40example.com&b=2&email=second%40example.com&flag&=nameless&constructor=x');
    const [lead] = crm.listLeads();
    expect(lead?.fields.map(({ name, value }) => [name, value])).toEqual([
      ['b', '1'],
      ['oid', 'o'],
      ['email', 'first@example.com'],
      ['b', '2'],
      ['email', 'second@example.com'],
      ['flag', ''],
      ['', 'nameless'],
      ['constructor', 'x'],
    ]);
    expect(lead?.mapped).toEqual({ email: 'first@example.com' });
  });

  it.each(['http://shop.example.com/thanks', 'https://shop.example.com/thanks?x=1'])(
    'redirects to %s when the form asks for it',
    async (retURL) => {
      const answer = await send(form({ retURL }));
      expect([answer.status, answer.headers.location]).toEqual([302, retURL]);
      expect(crm.listLeads()).toHaveLength(1);
    },
  );

  it.each(['javascript:alert(1)', 'www.example.com', '/thanks', ''])("does not redirect to '%s'", async (retURL) => {
    const answer = await send(form({ retURL }));
    expect([answer.status, answer.headers.location]).toEqual([200, undefined]);
  });

  it.each([
    ['no oid', 'email=a%40example.com', {}, 400, /'oid'/],
    ['an empty oid', 'oid=&email=a%40example.com', {}, 400, /'oid'/],
    ['an empty body', '', {}, 400, /'oid'/],
    ['a lone percent sign', 'oid=1&discount=100%', {}, 400, /malformed/],
    ['an escape that is not UTF-8', 'oid=1&name=%E9', {}, 400, /malformed/],
    ['raw bytes that are not UTF-8', Buffer.from([0x6f, 0x3d, 0xe9]), {}, 400, /malformed/],
    [
      'multipart',
      '--x\r\n',
      { headers: { 'Content-Type': 'multipart/form-data; boundary=x' } },
      415,
      /application\/x-www-form-urlencoded/,
    ],
    ['no content type', 'oid=1', { headers: {} }, 415, /Content-Type/],
    [
      'another charset',
      'oid=1',
      { headers: { 'Content-Type': `${FORM['Content-Type']}; charset=ISO-8859-1` } },
      415,
      /iso-8859-1/,
    ],
    [
      'fields in the query string',
      '',
      { path: `${FORM_PATH}?oid=1` },
      400,
      /in the query string. Send them in the body/,
    ],
    [
      'fields in the query string, without a content type',
      '',
      { path: `${FORM_PATH}?oid=1`, headers: {} },
      400,
      /in the query string. Send them in the body/,
    ],
    ['another encoding', 'oid=1', { path: `${FORM_PATH}?encoding=Shift_JIS` }, 415, /Shift_JIS/],
    [
      'a compressed form',
      'oid=1',
      { headers: { ...FORM, 'Content-Encoding': 'gzip' } },
      415,
      /Content-Encoding .gzip./,
    ],
    ['a case without orgid', 'email=a', { path: '/servlet/servlet.WebToCase' }, 400, /'orgid'/],
    ['a body that is too large', `oid=1&x=${'a'.repeat(300_000)}`, {}, 413, /larger than 262144 bytes/],
    ['a path that no variable names', 'oid=1', { path: '/forms/lead' }, 404, /no form at \/forms\/lead: no variable/],
    ['no path', 'oid=1', { path: '/' }, 404, /no form at \/:/],
    ['another method', '', { method: 'GET' }, 405, /POST/],
  ] as const)('refuses %s, says why, and keeps nothing', async (_case, body, options, status, reason) => {
    const answer = await send(body, options);
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(answer.body).toMatch(reason);
    if (status === 405) expect(answer.headers.allow).toBe('POST');
    expect(crm.listLeads()).toEqual([]);
  });

  it('refuses a form that is far too large also to clients that send all of it before they read', async () => {
    const body = `oid=1&x=${'a'.repeat(8_000_000)}`;
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(body, { agent: false })));
    expect(answers.map(({ status }) => status)).toEqual([413, 413, 413, 413, 413]);
  });

  it('takes a charset of UTF-8 in any spelling', async () => {
    expect(
      (await send('oid=1', { headers: { 'Content-Type': `${FORM['Content-Type']};charset="utf-8"` } })).status,
    ).toBe(200);
  });

  it.each(['/servlet/servlet.WebToCase', '/SERVLET/Servlet.webtolead?encoding=UTF-8'])(
    'takes a form at the known endpoint %s',
    async (path) => {
      expect((await send(form({ email: 'a@x' }), { path })).status).toBe(200);
      expect(crm.listLeads()).toMatchObject([{ source: { path } }]);
    },
  );

  it("takes a case, whose organization is in 'orgid'", async () => {
    expect((await send('orgid=7&email=a%40x', { path: '/servlet/servlet.WebToCase' })).status).toBe(200);
    expect(crm.listLeads()).toMatchObject([{ oid: '7', mapped: { email: 'a@x' } }]);
  });

  it('takes a form at a path that a variable of the lambda names', async () => {
    const headers = { ...FORM, [FORM_HEADER]: 'named' };
    expect((await send(form({ email: 'a@x' }), { path: '/forms/lead?x=1', headers })).status).toBe(200);
    expect(crm.listLeads()).toMatchObject([{ source: { path: '/forms/lead?x=1' } }]);
  });

  it('says so when a lead cannot be kept', async () => {
    leads.durable = () => Promise.reject(new Error('the disk is full'));
    const answer = await send(form({}));
    expect([answer.status, answer.body]).toEqual([500, expect.stringContaining('the disk is full')]);
    expect(crm.listLeads()).toEqual([]);
  });

  it('continues after a client that disconnects or does not speak TLS', async () => {
    const broken = connect({ host: '127.0.0.1', port, ca: certificate.certPem, servername: 'localhost' }) as TLSSocket;
    await once(broken, 'secureConnect');
    broken.write(
      `POST ${FORM_PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM['Content-Type']}\r\nContent-Length: 100\r\n\r\noid=1`,
    );
    broken.destroy();
    await once(broken, 'close');
    await expect(fetch(`http://127.0.0.1:${port}${FORM_PATH}`, { method: 'POST', body: 'oid=1' })).rejects.toThrow();
    expect((await send(form({}))).status).toBe(200);
  });

  it('lists by e-mail in any letter case and by time, newest last', async () => {
    await send(form({ email: 'a@example.com', title: '1' }));
    nowMs += 60_000;
    await send(form({ email: 'b@example.com', title: '2' }));
    nowMs += 60_000;
    await send(form({ email: 'A@Example.com', title: '3' }));
    const titles = (filter: LeadFilter) => crm.listLeads(filter).map(({ mapped }) => mapped.title);
    expect(titles({})).toEqual(['1', '2', '3']);
    expect(titles({ email: 'a@example.COM' })).toEqual(['1', '3']);
    expect(titles({ sinceMs: Date.UTC(2026, 0, 15, 9, 31) })).toEqual(['2', '3']);
    expect(titles({ sinceMs: Date.UTC(2026, 0, 15, 9, 31, 0, 1), email: 'b@example.com' })).toEqual([]);
  });

  it('may be stopped twice', async () => {
    await crm.stop();
    await crm.stop();
  });

  it('says which port it could not have', async () => {
    const second = new MockCrm({
      leads,
      refusedForms,
      certificate: async () => certificate,
      allowedHosts: new Set(),
      nowMs: () => nowMs,
      newId: () => 'x',
    });
    await expect(second.start({ host: '127.0.0.1', port })).rejects.toThrow(`127.0.0.1:${port}`);
    await second.stop();
  });

  it('lets connections wait until there is a certificate', async () => {
    await crm.stop();
    let found: (certificate: Certificate) => void = () => {};
    const whenRequested = new Promise<void>((resolve) => {
      crm = new MockCrm({
        leads,
        refusedForms,
        certificate: () => {
          resolve();
          return new Promise((take) => {
            found = take;
          });
        },
        allowedHosts: new Set(),
        nowMs: () => nowMs,
        newId: () => 'x',
      });
    });
    ({ port } = await crm.start({ host: '127.0.0.1', port: 0 }));
    const answers = [send(form({ oid: '1' })), send(form({ oid: '1' }))];
    await whenRequested;
    found(certificate);
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('is trusted under each name of this machine', async () => {
    for (const servername of ['localhost', '127.0.0.1']) {
      expect((await send(form({}), { host: servername, family: 4 })).status).toBe(200);
    }
  });
});
