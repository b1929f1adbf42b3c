import { connect, type Socket } from 'node:net';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MemoryLog } from '../../testing/memory-log.ts';
import { type Certificate, makeCertificate } from '../certificate.ts';
import { type Mail, parseMail } from './mail.ts';
import { MockMail } from './mock-mail.ts';

const EXECUTION = '2f6b4c1e-0000-4000-8000-00000000000a';
const LAMBDA = { lambdaId: '2f6b4c1e-0000-4000-8000-00000000000b', lambdaName: 'web-form' };
const MB = 1024 * 1024;

let certificate: Certificate;
let mails: MemoryLog<Mail>;
let port: number;
let mock: MockMail;
let lambdaPorts: Set<number>;

beforeAll(async () => {
  certificate = await makeCertificate(Date.now());
});
beforeEach(async () => {
  mails = new MemoryLog();
  lambdaPorts = new Set();
  let count = 0;
  mock = new MockMail({
    mails,
    certificate: async () => certificate,
    nowMs: () => Date.UTC(2026, 0, 15, 9, 30) + count * 1000,
    newId: () => `2f6b4c1e-0000-4000-8000-${String(++count).padStart(12, '0')}`,
    executionOf: (remotePort) => (lambdaPorts.has(remotePort) ? EXECUTION : undefined),
    senderOf: () => LAMBDA,
  });
  ({ port } = await mock.start({ host: '127.0.0.1', port: 0 }));
});
afterEach(() => mock.stop());

function transport(options: object = {}) {
  const tls = { ca: certificate.certPem, servername: 'localhost' };
  return createTransport({ host: '127.0.0.1', port, tls, ...options });
}

const send = (mail: SendMailOptions, options?: object) =>
  transport(options).sendMail({ from: 'Shop <shop@example.com>', to: 'ada@example.com', ...mail });

/** A conversation in plain text, for what a mail library does not send. */
async function converse(...parts: (string | Buffer)[]): Promise<string> {
  const socket: Socket = connect(port, '127.0.0.1');
  let replies = '';
  socket.on('data', (bytes) => {
    replies += bytes;
  });
  await expect.poll(() => replies).toMatch(/^220 /);
  for (const part of parts) {
    const before = replies.length;
    socket.write(part);
    await expect.poll(() => replies.slice(before)).toMatch(/^\d{3} .*\r\n$/m);
  }
  socket.destroy();
  return replies;
}
const ENVELOPE = ['HELO me\r\n', 'MAIL FROM:<a@example.com>\r\n', 'RCPT TO:<b@example.com>\r\n', 'DATA\r\n'];

describe('the mock mail server (D-218)', () => {
  it('keeps a mail with its texts, attachments and source, and delivers nothing', async () => {
    await send({
      to: 'Ada Lovelace <ada@example.com>, bob@example.com',
      cc: 'carol@example.com',
      bcc: 'dave@example.com',
      subject: 'Ihre Bestellung – größer ✓',
      text: 'Grüße',
      html: '<p>Grüße</p>',
      attachments: [{ filename: 'bill.pdf', content: Buffer.from([0, 255, 128]), contentType: 'application/pdf' }],
    });
    const [mail] = mock.list();
    expect(mail).toMatchObject({
      receivedAt: '2026-01-15T09:30:01.000Z',
      envelope: {
        from: 'shop@example.com',
        to: ['ada@example.com', 'bob@example.com', 'carol@example.com', 'dave@example.com'],
      },
      subject: 'Ihre Bestellung – größer ✓',
      from: [{ name: 'Shop', address: 'shop@example.com' }],
      to: [
        { name: 'Ada Lovelace', address: 'ada@example.com' },
        { name: '', address: 'bob@example.com' },
      ],
      cc: [{ name: '', address: 'carol@example.com' }],
      text: expect.stringContaining('Grüße'),
      html: '<p>Grüße</p>',
      attachments: [{ name: 'bill.pdf', type: 'application/pdf', sizeBytes: 3 }],
      source: expect.stringContaining('Content-Type: multipart/mixed'),
    });
    expect(mail).not.toHaveProperty('executionId');
    expect(parseMail(JSON.parse(JSON.stringify(mail)))).toEqual(mail);
  });

  it.each([
    ['without TLS', { ignoreTLS: true, auth: { user: 'any', pass: 'any' } }],
    ['with STARTTLS', { requireTLS: true, auth: { user: 'any', pass: 'any' } }],
    ['without a user name', { auth: undefined }],
    ['with CRAM-MD5', { authMethod: 'CRAM-MD5', auth: { user: 'any', pass: 'any' } }],
    ['with an access token', { auth: { type: 'OAuth2', user: 'any', accessToken: 'any' } }],
  ])('accepts any credentials %s', async (_, options) => {
    await send({ subject: 'hello' }, options);
    expect(mock.list()).toHaveLength(1);
  });

  it('names the lambda and the invocation that use the connection', async () => {
    const socket = connect(port, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    lambdaPorts.add(socket.localPort ?? 0);
    await send({ subject: 'hello' }, { connection: socket });
    expect(mock.list()).toMatchObject([{ executionId: EXECUTION, sender: LAMBDA }]);
  });

  it.each([
    ['../../x', 'x'],
    ['..\\x.exe', 'x.exe'],
    ['/etc/passwd', 'passwd'],
    ['a\u202Efdp.exe', 'afdp.exe'],
    ['..', 'attachment-1'],
    ['\u0007', 'attachment-1'],
  ])('keeps an attachment named %j as %s', async (filename, name) => {
    await send({ attachments: [{ filename, content: 'x', contentType: 'text/html' }] });
    expect(mock.list()).toMatchObject([{ attachments: [{ name, type: 'text/html', sizeBytes: 1 }] }]);
  });

  it('converts the HTML of an invitation without a text, and leaves out its images', async () => {
    await send({
      html: '<p>Meet <b>Ada</b></p><img src="cid:dot">',
      icalEvent: { method: 'REQUEST', content: 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n' },
      attachments: [{ cid: 'dot', filename: 'dot.png', content: 'dot' }],
    });
    expect(mock.list({ search: 'meet ada' })).toMatchObject([{ text: 'Meet Ada' }]);
  });

  it('shows the images of a mail in its HTML', async () => {
    const attachments = [{ filename: 'dot.png', content: Buffer.from('dot'), cid: 'dot' }];
    await send({ html: '<img src="cid:dot"><img src="https://tracker.example/x">', attachments });
    expect(mock.list()[0]?.html).toBe(
      `<img src="data:image/png;base64,${btoa('dot')}"><img src="https://tracker.example/x">`,
    );
  });

  it('keeps the source of what is no mail', async () => {
    const lines = Buffer.concat([Buffer.alloc(2 * MB, 'X'), Buffer.from(': \xff\r\n', 'latin1')]);
    await converse(...ENVELOPE, Buffer.concat([lines, Buffer.from('.\r\n')]));
    expect(mock.list()).toMatchObject([
      { subject: '', text: '', attachments: [], problem: expect.stringContaining('Its source is complete') },
    ]);
    expect(mock.list()[0]?.source).toHaveLength(lines.length);
  });

  it('rejects a mail over 25 MB with 552 and a sentence, by its announced and by its real size', async () => {
    const [hello, ...nextCommands] = ENVELOPE;
    const announced = await converse('EHLO me\r\n', `MAIL FROM:<a@example.com> SIZE=${26 * MB}\r\n`);
    expect(announced).toMatch(/552 .*size/);
    const line = Buffer.from(`${'x'.repeat(1022)}\r\n`);
    const body = Buffer.concat([...Array.from({ length: 26 * 1024 }, () => line), Buffer.from('.\r\n')]);
    expect(await converse(hello ?? '', ...nextCommands, body)).toMatch(
      /552 The mail is larger than 25 MB\. Send a smaller one/,
    );
    expect(mock.list()).toEqual([]);
    await send({ subject: 'the next one' });
    expect(mock.list()).toHaveLength(1);
  });

  it('tells the client when a mail cannot be saved', async () => {
    mails.durable = () => Promise.reject(new Error('the disk is full'));
    await expect(send({})).rejects.toThrow('452 The mail could not be saved: the disk is full');
  });

  it('drops a mail whose client went away before its end', async () => {
    await converse(...ENVELOPE, 'QUIT\r\n.\r\n');
    const socket = connect(port, '127.0.0.1');
    socket.write(ENVELOPE.join(''));
    socket.destroy();
    await send({ subject: 'whole' });
    expect(mock.list().map(({ subject }) => subject)).toEqual(['', 'whole']);
  });

  it('finds mails by recipient, subject, time and text', async () => {
    await send({
      subject: 'Your order',
      text: 'It costs 5 EUR',
      attachments: [{ filename: 'bill.pdf', content: 'x' }],
    });
    await send({ to: 'bob@example.com', bcc: 'eve@example.com', subject: 'Reset your password', text: 'Click' });
    const subjects = (filter: object) => mock.list(filter).map(({ subject }) => subject);
    expect(subjects({})).toEqual(['Your order', 'Reset your password']);
    expect(subjects({ to: 'ADA@example.com' })).toEqual(['Your order']);
    expect(subjects({ to: 'eve@example.com' })).toEqual(['Reset your password']);
    expect(subjects({ to: 'example.com' })).toEqual([]);
    expect(subjects({ subject: 'PASSWORD' })).toEqual(['Reset your password']);
    expect(subjects({ sinceMs: Date.UTC(2026, 0, 15, 9, 30, 2) })).toEqual(['Reset your password']);
    for (const search of ['5 eur', 'BILL', 'order']) expect(subjects({ search })).toEqual(['Your order']);
    expect(subjects({ search: 'shop@' })).toHaveLength(2);
    expect(await mock.clear()).toBe(2);
    expect(mock.list()).toEqual([]);
  });
});
