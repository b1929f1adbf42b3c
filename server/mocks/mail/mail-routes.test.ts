import { createTransport, type SendMailOptions } from 'nodemailer';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeAccount } from '../../testing/account.ts';
import { basic, send } from '../../testing/checked-client.ts';
import { sharedPlatform } from '../../testing/platform.ts';

const platform = sharedPlatform();
const UNKNOWN = '2f6b4c1e-0000-4000-8000-00000000000a';

async function ask(method: string, path: string, auth?: string) {
  const { baseUrl, rootCredentials } = platform.emulator;
  const rootAuth = basic(rootCredentials.apiKey, rootCredentials.apiSecret ?? '');
  return await send(method, `${baseUrl}/inspect/mails${path}`, { auth: auth ?? rootAuth });
}

async function sendMail(mail: SendMailOptions): Promise<void> {
  const { hostname, port } = new URL(platform.emulator.smtpUrl);
  const transport = createTransport({ host: hostname, port: Number(port), tls: { rejectUnauthorized: false } });
  await transport.sendMail({ from: 'shop@example.com', to: 'ada@example.com', ...mail });
}

beforeEach(async () => {
  await ask('DELETE', '');
});

describe('the routes of mails', () => {
  it('list, filter and page mails, oldest first', async () => {
    for (const subject of ['one', 'two', 'three']) await sendMail({ subject, text: `text ${subject}` });
    await sendMail({ to: 'bob@example.com', subject: 'four' });
    const subjects = async (query: string) =>
      (await ask('GET', query)).body.map(({ subject }: { subject: string }) => subject);
    expect(await subjects('')).toEqual(['one', 'two', 'three', 'four']);
    expect(await subjects('?to=ADA@example.com')).toEqual(['one', 'two', 'three']);
    expect(await subjects('?subject=TW')).toEqual(['two']);
    expect(await subjects('?search=text%20three')).toEqual(['three']);
    expect(await subjects('?since=2999-01-01T00:00:00Z')).toEqual([]);
    expect(await subjects('?limit=2')).toEqual(['three', 'four']);
    const [, , third] = (await ask('GET', '')).body;
    expect(await subjects(`?limit=1&before=${third.id}`)).toEqual(['two']);
    expect(third).toMatchObject({ excerpt: expect.stringContaining('text three'), sizeBytes: expect.any(Number) });
    expect(third).not.toHaveProperty('source');
  });

  it.each(['?limit=0', '?since=yesterday', '?before=x', '?recipient=a', '?to=a&to=b'])('refuse %s', async (query) => {
    expect(await ask('GET', query)).toMatchObject({ status: 400 });
  });

  it('wait for a mail', async () => {
    const waiting = ask('GET', '?to=late@example.com&waitS=20');
    await sendMail({ to: 'late@example.com', subject: 'late' });
    expect((await waiting).body).toMatchObject([{ subject: 'late' }]);
  });

  it('return the contents, the source and attachments as downloads that no browser shows', async () => {
    const script = '<script>alert(1)</script>';
    const attachments = [{ filename: '../../page "1".html', content: script }];
    await sendMail({ subject: 'hello', text: 'text', html: script, attachments });
    const [{ id }] = (await ask('GET', '')).body;
    expect((await ask('GET', `/${id}`)).body).toMatchObject({ subject: 'hello', text: 'text', html: script });
    const source = await ask('GET', `/${id}/source`);
    expect(source.body).toMatch(/^From: shop@example.com\r\n/);
    const attachment = await ask('GET', `/${id}/attachments/0`);
    expect(attachment.body).toBe(script);
    expect(attachment.headers.get('content-disposition')).toBe('attachment; filename="page \\"1\\".html"');
    for (const { headers } of [source, attachment]) {
      expect(headers.get('content-disposition')).toMatch(/^attachment;/);
      expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect(source.headers.get('content-type')).toBe('message/rfc822');
    expect(attachment.headers.get('content-type')).toBe('application/octet-stream');
    for (const path of [`/${UNKNOWN}`, `/${UNKNOWN}/source`, `/${id}/attachments/1`, `/${id}/attachments/-1`]) {
      expect(await ask('GET', path)).toMatchObject({
        status: 404,
        body: { message: expect.stringContaining('not found') },
      });
    }
    expect(await ask('GET', '/x')).toMatchObject({ status: 400 });
  });

  it('hide mails from users who may not view the platform', async () => {
    await sendMail({ subject: 'secret' });
    const [{ id }] = (await ask('GET', '')).body;
    await platform.root.create('/root', { name: 'acme' });
    const { bearer } = await makeAccount(platform, 'ada', '/acme');
    expect(await ask('GET', '', bearer)).toMatchObject({ status: 200, body: [] });
    expect(await ask('GET', `/${id}`, bearer)).toMatchObject({ status: 404 });
    expect(await ask('GET', `/${id}/source`, bearer)).toMatchObject({ status: 404 });
    expect(await ask('DELETE', '', bearer)).toMatchObject({ status: 403 });
  });
});
