import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { PlatformError, toPlatformError } from '../model/errors.ts';
import { EXECUTION_HEADER } from '../model/execution-header.ts';
import type { Uuid } from '../model/ids.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import type { Certificate } from './certificate.ts';
import { type Lead, type LeadFilter, type LeadSender, mapLead, matchesLead } from './lead.ts';
import { readLeadForm } from './read-lead-form.ts';

const executionHeader = z.guid().transform((id) => id.toLowerCase());

const FORM_PATH = '/servlet/servlet.WebToLead';
const REQUEST_TIMEOUT_MS = 30_000;
/** How long a request under way may go on after `stop()`. */
const STOP_GRACE_MS = 1_000;

export interface CrmStandInOptions {
  /** Where leads are kept. */
  leads: KeyedLog<Lead>;
  certificate: Certificate;
  /** Clock, epoch milliseconds. */
  nowMs(): number;
  newId(): string;
  /** Above this number the oldest are dropped; at least 1. */
  maxLeads: number;
  /** What is known of an invocation that sent a form. */
  senderOf?(executionId: Uuid): LeadSender | undefined;
  /** Told of each lead once it is kept. */
  onLead?(lead: Lead): void;
  /** Told when leads were deleted. */
  onDeleted?(): void;
}

interface Waiter {
  accept(lead: Lead): void;
  reject(error: Error): void;
}

/**
 * A local CRM (D-200): an HTTPS server with the web-to-lead form endpoint, `POST /servlet/servlet.WebToLead`, that keeps what
 * it gets. As at the real one a form needs its `oid`, and `retURL` says where the sender is redirected to.
 */
export class CrmStandIn {
  readonly #options: CrmStandInOptions;
  readonly #waiters = new Set<Waiter>();
  #server: Server | undefined;

  constructor(options: CrmStandInOptions) {
    this.#options = options;
  }

  /**
   * Begins to listen.
   *
   * @param at.port 0 lets the system choose
   * @returns where it listens, and the certificate a client has to trust
   * @throws Error with a sentence for the user when the port cannot be had
   */
  async start(at: { host: string; port: number }): Promise<{ host: string; port: number; caPem: string }> {
    const { keyPem, certPem } = this.#options.certificate;
    const server = createServer(
      { key: keyPem, cert: certPem, requestTimeout: REQUEST_TIMEOUT_MS },
      (request, response) => {
        void this.#answer(request, response);
      },
    );
    server.listen(at.port, at.host);
    try {
      await once(server, 'listening');
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(
        `the CRM stand-in cannot listen on ${at.host}:${at.port} (${reason}); choose another port, or 0`,
        { cause },
      );
    }
    this.#server = server;
    // A server on a TCP port always has an AddressInfo.
    return { host: at.host, port: (server.address() as AddressInfo).port, caPem: certPem };
  }

  /** Ends: requests under way get a second to finish, and whoever waits for a lead is told. */
  async stop(): Promise<void> {
    for (const waiter of this.#waiters) waiter.reject(new Error('the CRM stand-in was stopped'));
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = once(server, 'close');
    server.close();
    const grace = setTimeout(() => server.closeAllConnections(), STOP_GRACE_MS);
    await closed;
    clearTimeout(grace);
  }

  /** The leads asked for, newest last. */
  listLeads(filter: LeadFilter = {}): Lead[] {
    return [...this.#options.leads.entries()].map(([, lead]) => lead).filter((lead) => matchesLead(lead, filter));
  }

  /** Deletes a lead. Resolves to whether there was one of this id. */
  async deleteLead(id: string): Promise<boolean> {
    const wasThere = await this.#options.leads.remove(id);
    if (wasThere) this.#options.onDeleted?.();
    return wasThere;
  }

  /** Deletes all leads that are here now. Resolves to how many. */
  async deleteLeads(): Promise<number> {
    const { leads, onDeleted } = this.#options;
    const ids = [...leads.entries()].map(([id]) => id);
    const wereThere = await Promise.all(ids.map((id) => leads.remove(id)));
    onDeleted?.();
    return wereThere.filter(Boolean).length;
  }

  /**
   * The first lead of that kind: one that is here already, otherwise the next to come.
   *
   * @throws Error when none came within timeoutMs, or when the stand-in is stopped meanwhile
   */
  waitFor(isWanted: (lead: Lead) => boolean, timeoutMs: number): Promise<Lead> {
    const here = this.listLeads().find(isWanted);
    if (here) return Promise.resolve(here);
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter = {
        accept: (lead) => {
          if (!isWanted(lead)) return;
          end();
          resolve(lead);
        },
        reject: (error) => {
          end();
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        waiter.reject(
          new Error(`no such lead came within ${timeoutMs} ms; ${this.#options.leads.size} other leads are here`),
        );
      }, timeoutMs);
      this.#waiters.add(waiter);
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const lead = await this.#read(request);
      await this.#keep(lead);
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
      const message = error.status === 500 ? `the lead could not be kept: ${String(error.cause)}` : error.message;
      send(response, error.status, 'text/plain', `${message}\n`, error.headers);
    }
  }

  async #read(request: IncomingMessage): Promise<Lead> {
    const target = request.url ?? '/';
    const at = target.indexOf('?');
    const path = at < 0 ? target : target.slice(0, at);
    if (path !== FORM_PATH)
      throw new PlatformError(404, `this CRM stand-in has only the form endpoint POST ${FORM_PATH}`);
    if (request.method !== 'POST') {
      throw new PlatformError(405, `a form is sent with POST, not ${request.method}`, { headers: { Allow: 'POST' } });
    }
    const fields = await readLeadForm(request, new URLSearchParams(at < 0 ? '' : target.slice(at)));
    const oid = fields.find(({ name }) => name === 'oid')?.value.trim();
    if (!oid) {
      throw new PlatformError(
        400,
        "the form has no 'oid': the id of the CRM organization is always required; nothing was kept",
      );
    }
    return {
      id: this.#options.newId(),
      receivedAt: new Date(this.#options.nowMs()).toISOString(),
      oid,
      fields,
      mapped: mapLead(fields),
      source: { host: request.headers.host ?? '', path: target },
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

  async #keep(lead: Lead): Promise<void> {
    const { leads, maxLeads } = this.#options;
    await leads.put(lead.id, lead);
    const surplus = [...leads.entries()].slice(0, Math.max(0, leads.size - maxLeads));
    // The lead is kept: that an old one cannot be removed is none of its sender's business, and tried again with the next.
    await Promise.allSettled(surplus.map(([id]) => leads.remove(id)));
    for (const waiter of this.#waiters) waiter.accept(lead);
    this.#options.onLead?.(lead);
  }
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
