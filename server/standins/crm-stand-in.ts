import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { z } from 'zod';
import { keepIdleConnections } from '../http/idle-connections.ts';
import { closeWithin, listenAt } from '../http/listening.ts';
import { queryOf } from '../http/query.ts';
import { cutSlowClients } from '../http/slow-clients.ts';
import { lazy } from '../machine/lazy.ts';
import { PlatformError, toPlatformError } from '../model/errors.ts';
import { EXECUTION_HEADER } from '../model/execution-header.ts';
import type { Uuid } from '../model/ids.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import { reasonOf } from '../model/reason.ts';
import type { Certificate } from './certificate.ts';
import { type Lead, type LeadFilter, type LeadSender, mapLead, matchesLead, type RefusedForm } from './lead.ts';
import { readLeadForm } from './read-lead-form.ts';

const executionHeader = z.guid().transform((id) => id.toLowerCase());

const FORM_PATH = '/servlet/servlet.WebToLead';
/** How long a request under way may go on after `stop()`. */
const STOP_GRACE_MS = 500;

export interface CrmStandInOptions {
  /** Where leads are kept, as many as are to be. */
  leads: KeyedLog<Lead>;
  /** Where forms are kept that were not taken. */
  refusedForms: KeyedLog<RefusedForm>;
  /** Asked for at the first connection. */
  certificate(): Promise<Certificate>;
  /** Clock, epoch milliseconds. */
  nowMs(): number;
  newId(): string;
  /** What is known of an invocation that sent a form. */
  senderOf?(executionId: Uuid): LeadSender | undefined;
  /** Told of each lead once it is kept. */
  onLead?(lead: Lead): void;
  /** Told of each form that was refused once it is kept. */
  onRefused?(form: RefusedForm): void;
  /** Told when leads were deleted. */
  onDeleted?(): void;
}

/**
 * A local CRM (D-200): an HTTPS server with the web-to-lead form endpoint, `POST /servlet/servlet.WebToLead`, that keeps what
 * it gets. As at the real one a form needs its `oid`, and `retURL` says where the sender is redirected to.
 */
export class CrmStandIn {
  readonly #options: CrmStandInOptions;
  #server: Server | undefined;

  constructor(options: CrmStandInOptions) {
    this.#options = options;
  }

  /**
   * Begins to listen.
   *
   * @param at.port 0 lets the system choose
   * @returns where it listens
   * @throws Error with a sentence for the user when the port cannot be had
   */
  async start(at: { host: string; port: number }): Promise<{ host: string; port: number }> {
    const server = createServer(
      // No authorities at all, since nobody is asked for a certificate here: with one, or unless told, Node reads a hundred of the world's.
      { ca: [], ...cutSlowClients(), ...keepIdleConnections() },
      (request, response) => {
        void this.#answer(request, response);
      },
    );
    this.#secure(server);
    let port: number;
    try {
      ({ port } = await listenAt(server, at));
    } catch (cause) {
      const reason = reasonOf(cause);
      throw new Error(
        `the CRM stand-in cannot listen on ${at.host}:${at.port} (${reason}); choose another port, or 0`,
        { cause },
      );
    }
    this.#server = server;
    return { host: at.host, port };
  }

  /** Connections wait for the certificate, which may have to be made. */
  #secure(server: Server): void {
    const begin = server.listeners('connection');
    const secure = lazy(async () => {
      const { keyPem, certPem } = await this.#options.certificate();
      server.setSecureContext({ key: keyPem, cert: certPem, ca: [] });
    });
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      socket.on('error', () => {}); // its close tells enough
      secure().then(
        () => {
          for (const listener of begin) listener.call(server, socket);
        },
        () => socket.destroy(),
      );
    });
  }

  /** Ends: requests under way get a moment to finish. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server) await closeWithin(server, STOP_GRACE_MS);
  }

  /** The leads asked for, or the refused forms if those are; newest last. */
  listLeads(filter: LeadFilter = {}): (Lead | RefusedForm)[] {
    const kept: KeyedLog<Lead | RefusedForm> = filter.isRefused ? this.#options.refusedForms : this.#options.leads;
    return [...kept.entries()].map(([, lead]) => lead).filter((lead) => matchesLead(lead, filter));
  }

  /** What the sender of a refused form was told; undefined when none of this invocation's was refused. */
  refusalOf(executionId: Uuid): string | undefined {
    for (const [, form] of this.#options.refusedForms.entries()) {
      if (form.executionId === executionId) return form.refused.message;
    }
    return undefined;
  }

  /** Deletes a lead or a refused form. Resolves to whether there was one of this id. */
  async deleteLead(id: string): Promise<boolean> {
    const { leads, refusedForms } = this.#options;
    const wasThere = (await leads.remove(id)) || (await refusedForms.remove(id));
    if (wasThere) this.#options.onDeleted?.();
    return wasThere;
  }

  /** Deletes all leads and refused forms that are here now. Resolves to how many. */
  async deleteLeads(): Promise<number> {
    const { leads, refusedForms, onDeleted } = this.#options;
    const wereThere = await Promise.all(
      [leads, refusedForms].flatMap((log) => [...log.entries()].map(([id]) => log.remove(id))),
    );
    onDeleted?.();
    return wereThere.filter(Boolean).length;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { leads, onLead } = this.#options;
    let form = this.#emptyForm(request);
    try {
      const fields = await readForm(request);
      form = { ...form, fields, mapped: mapLead(fields) };
      const lead = { ...form, oid: oidIn(fields) };
      await leads.put(lead.id, lead);
      onLead?.(lead);
      const returnUrl = returnUrlOf(lead);
      if (returnUrl) response.writeHead(302, { Location: returnUrl }).end();
      else
        send(
          response,
          200,
          'text/html',
          '<!DOCTYPE html><title>Thank you</title><p>Your information was received.</p>',
        );
    } catch (thrown) {
      const error = toPlatformError(thrown);
      const { status } = error;
      const message = status === 500 ? `the lead could not be kept: ${String(error.cause)}` : error.message;
      if (request.method === 'POST') await this.#keepRefused({ ...form, refused: { status, message } });
      send(response, status, 'text/plain', `${message}\n`, error.headers);
    }
  }

  /** What is known of a form before it is read. */
  #emptyForm(request: IncomingMessage): Omit<Lead, 'oid'> {
    return {
      id: this.#options.newId(),
      receivedAt: new Date(this.#options.nowMs()).toISOString(),
      fields: [],
      mapped: {},
      source: { host: request.headers.host ?? '', path: request.url ?? '/' },
      remote: request.socket.remoteAddress ?? '',
      ...this.#originOf(request),
    };
  }

  /** The invocation that a caught call names; whoever speaks to the stand-in directly needs none. */
  #originOf(request: IncomingMessage): Pick<Lead, 'executionId' | 'sender'> {
    const executionId = executionHeader.safeParse(request.headers[EXECUTION_HEADER]).data;
    if (executionId === undefined) return {};
    const sender = this.#options.senderOf?.(executionId);
    return { executionId, ...(sender && { sender }) };
  }

  /** For those who look for a lead that is not there; the sender is answered whether or not there is room for it. */
  async #keepRefused(form: RefusedForm): Promise<void> {
    const { refusedForms, onRefused } = this.#options;
    await refusedForms.put(form.id, form).then(
      () => onRefused?.(form),
      () => undefined,
    );
  }
}

/** The fields of the form in a request. Throws PlatformError for a request that brings none. */
async function readForm(request: IncomingMessage): Promise<Lead['fields']> {
  const [path] = (request.url ?? '').split('?', 1);
  if (path !== FORM_PATH) {
    throw new PlatformError(404, `this CRM stand-in has only the form endpoint POST ${FORM_PATH}`);
  }
  if (request.method !== 'POST') {
    throw new PlatformError(405, `a form is sent with POST, not ${request.method}`, { headers: { Allow: 'POST' } });
  }
  return readLeadForm(request, queryOf(request));
}

function oidIn(fields: Lead['fields']): string {
  const oid = fields.find(({ name }) => name === 'oid')?.value.trim();
  if (oid) return oid;
  throw new PlatformError(
    400,
    "the form has no 'oid': the id of the CRM organization is always required; no lead was made",
  );
}

/** Where the form wants its sender to go next; only web addresses count. */
function returnUrlOf(lead: Lead): string | undefined {
  const text = lead.fields.find(({ name }) => name === 'retURL')?.value;
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined;
}

function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { ...headers, 'Content-Type': `${type}; charset=utf-8` }).end(body);
}
