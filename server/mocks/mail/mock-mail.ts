import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { SMTPServer, SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import { FAULT_HEADER, type FaultRules } from '../../api/server/fault-rules.ts';
import { listenAt } from '../../api/server/listening.ts';
import { reasonOf } from '../../model/errors.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import type { Uuid } from '../../model/record.ts';
import { lazy } from '../../system/lazy.ts';
import type { Certificate } from '../certificate.ts';
import type { LambdaSender } from '../lambda-calls.ts';
import { type Mail, type MailFilter, matchesMail } from './mail.ts';

const MB = 1024 * 1024;
const MAX_MAIL_MB = 25;
const MAX_MAIL_BYTES = MAX_MAIL_MB * MB;
/** Bytes of all mails that are being received; several of the largest size fit. */
const MAX_RECEIVED_BYTES = 128 * MB;
const MAX_CLIENTS = 100;
const MAX_RECIPIENTS = 1_000;
/** Time for which an open connection can continue after `stop()`. */
const STOP_GRACE_MS = 500;

export interface MockMailOptions {
  mails: KeyedLog<Mail>;
  /** Called at the first connection. */
  certificate(): Promise<Certificate>;
  faults?: FaultRules;
  nowMs(): number;
  newId(): string;
  /** Finds the invocation that opened a connection, by the port from which it comes. */
  executionOf?(remotePort: number): Uuid | undefined;
  senderOf?(executionId: Uuid): LambdaSender | undefined;
  /** Called when a mail was added, and when mails were deleted. */
  onChange?(): void;
}

/** A mock mail server (D-218): receives mails by SMTP, with any credentials, and delivers none. */
export class MockMail {
  readonly #options: MockMailOptions;
  readonly #sockets = new Set<Socket>();
  readonly #smtp = lazy(() => this.#createSmtp());
  #server: Server | undefined;
  #receivedBytes = 0;

  constructor(options: MockMailOptions) {
    this.#options = options;
  }

  /**
   * Starts to listen.
   *
   * @param address.port 0 selects a free port
   * @returns the address
   */
  async start(address: { host: string; port: number }): Promise<{ host: string; port: number }> {
    const server = createServer((socket) => this.#accept(socket));
    const { port } = await listenAt(server, address);
    this.#server = server;
    return { host: address.host, port };
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = once(server, 'close');
    server.close();
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, STOP_GRACE_MS);
    await closed;
    clearTimeout(timer);
  }

  /** Returns the mails that match the filter; newest last. */
  list(filter: MailFilter = {}): Mail[] {
    return [...this.#options.mails.entries()].map(([, mail]) => mail).filter((mail) => matchesMail(mail, filter));
  }

  find(id: string): Mail | undefined {
    return this.#options.mails.get(id);
  }

  /** Deletes all current mails. Resolves to their number. */
  async clear(): Promise<number> {
    const { mails, onChange } = this.#options;
    const removals = await Promise.all([...mails.entries()].map(([id]) => mails.remove(id)));
    onChange?.();
    return removals.filter(Boolean).length;
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {}); // the close event is enough
    socket.once('close', () => this.#sockets.delete(socket));
    this.#smtp().then(
      (smtp) => smtp.server.emit('connection', socket),
      () => socket.destroy(),
    );
  }

  /** The protocol, on connections that this class accepts: both packages and the certificate are loaded with the first one. */
  async #createSmtp(): Promise<SMTPServer> {
    const [{ SMTPServer }, { keyPem, certPem }] = await Promise.all([
      import('smtp-server'),
      this.#options.certificate(),
    ]);
    const smtp = new SMTPServer({
      key: keyPem,
      cert: certPem,
      name: 'terrarium',
      banner: 'mock mail server: receives every mail and delivers none',
      size: MAX_MAIL_BYTES,
      maxClients: MAX_CLIENTS,
      authOptional: true,
      allowInsecureAuth: true,
      authMethods: ['PLAIN', 'LOGIN', 'CRAM-MD5', 'XOAUTH2'],
      disableReverseLookup: true,
      onAuth: ({ username }, _session, callback) => callback(null, { user: username || 'any' }),
      onMailFrom: (_address, { remotePort }, callback) => void this.#applyFault(remotePort).then(callback),
      onRcptTo: (_address, { envelope }, callback) =>
        callback(
          envelope.rcptTo.length < MAX_RECIPIENTS
            ? null
            : refusal(452, `A mail can have ${MAX_RECIPIENTS} recipients. Send it to the others separately.`),
        ),
      onData: (stream, session, callback) => {
        this.#receive(stream, session).then(
          (id) => callback(null, `Kept as mail ${id}`),
          (cause: unknown) => callback(cause instanceof Error ? cause : new Error(reasonOf(cause))),
        );
      },
    });
    smtp.on('error', () => {}); // a client that went away
    return smtp;
  }

  /** Applies a fault rule to a mail (D-221). Resolves to the reply, if the rule has one. */
  async #applyFault(remotePort: number): Promise<Error | undefined> {
    const fault = this.#options.faults?.take('smtp');
    await fault?.delayed();
    if (fault?.isCut) for (const socket of this.#sockets) if (socket.remotePort === remotePort) socket.destroy();
    return fault?.error && refusal(fault.error.status, `${FAULT_HEADER}: ${fault.ruleId}`);
  }

  /** Keeps a mail; resolves to its id. Rejects with an error whose code and message the client gets. */
  async #receive(stream: SMTPServerDataStream, { envelope, remotePort }: SMTPServerSession): Promise<Uuid> {
    const source = await this.#readSource(stream);
    const { mails, nowMs, newId, executionOf, senderOf, onChange } = this.#options;
    const { parseSource } = await import('./parse-source.ts');
    const executionId = executionOf?.(remotePort);
    const { lambdaId, lambdaName } = (executionId !== undefined && senderOf?.(executionId)) || {};
    const mail: Mail = {
      id: newId(),
      receivedAt: new Date(nowMs()).toISOString(),
      envelope: {
        from: envelope.mailFrom ? envelope.mailFrom.address : '',
        to: envelope.rcptTo.map(({ address }) => address),
      },
      ...(await parseSource(source)),
      source: source.toString('latin1'),
      ...(executionId !== undefined && { executionId }),
      ...(lambdaId !== undefined && lambdaName !== undefined && { sender: { lambdaId, lambdaName } }),
    };
    try {
      await mails.put(mail.id, mail);
    } catch (cause) {
      throw refusal(452, `The mail could not be saved: ${reasonOf(cause)}`);
    }
    onChange?.();
    return mail.id;
  }

  /** Reads to the end, which the client waits for, also what is too large to be kept. */
  async #readSource(stream: SMTPServerDataStream): Promise<Buffer> {
    let parts: Buffer[] = [];
    let sizeBytes = 0;
    let heldBytes = 0;
    let error: Error | undefined;
    try {
      for await (const part of stream as AsyncIterable<Buffer>) {
        sizeBytes += part.length;
        if (sizeBytes > MAX_MAIL_BYTES) {
          error = refusal(
            552,
            `The mail is larger than ${MAX_MAIL_MB} MB. Send a smaller one, with links instead of attachments.`,
          );
        } else if (this.#receivedBytes + part.length > MAX_RECEIVED_BYTES) {
          error ??= refusal(452, 'Too many mails are being received at the same time. Send this one again later.');
        }
        if (error) {
          parts = [];
          continue;
        }
        parts.push(part);
        heldBytes += part.length;
        this.#receivedBytes += part.length;
      }
    } finally {
      this.#receivedBytes -= heldBytes;
    }
    if (error) throw error;
    return Buffer.concat(parts);
  }
}

/** An error with the reply that the client gets. */
const refusal = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode });
