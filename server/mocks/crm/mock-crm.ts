import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { z } from 'zod';
import { limitBytesInFlight } from '../../api/server/bytes-in-flight.ts';
import type { FaultRules } from '../../api/server/fault-rules.ts';
import { isOurHost } from '../../api/server/host-guard.ts';
import { closeWithin, cutSlowClients, keepIdleConnections, listenAt } from '../../api/server/listening.ts';
import { queryOf } from '../../api/server/read-body.ts';
import { RequestTurns } from '../../api/server/request-turns.ts';
import { FORM_HEADER, isKnownForm, pathnameOf } from '../../model/crm-form.ts';
import { PlatformError, toPlatformError } from '../../model/errors.ts';
import { EXECUTION_HEADER } from '../../model/execution-header.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import type { Uuid } from '../../model/record.ts';
import { lazy } from '../../system/lazy.ts';
import { otherRuntime } from '../../system/node-program.ts';
import type { Certificate } from '../certificate.ts';
import type { LambdaSender } from '../lambda-calls.ts';
import {
  type Delivery,
  deliveriesOf,
  type Lead,
  type LeadFilter,
  mapLead,
  matchesLead,
  type RefusedForm,
} from './lead.ts';
import { readLeadForm } from './read-lead-form.ts';

const executionHeader = z.guid().transform((id) => id.toLowerCase());

const FORM_PATH = '/servlet/servlet.WebToLead';
/** Its forms name the organization in the field `orgid`. */
const WEB_TO_CASE = /^\/servlet\/servlet\.webtocase$/i;
const THANK_YOU_PAGE = '<!DOCTYPE html><title>Thank you</title><p>Your information was received.</p>';
/** Time for which an open request can continue after `stop()`. */
const STOP_GRACE_MS = 500;

export interface MockCrmOptions {
  leads: KeyedLog<Lead>;
  refusedForms: KeyedLog<RefusedForm>;
  /** Called at the first connection. */
  certificate(): Promise<Certificate>;
  /** Host names that browsers may use besides loopback ones; lower case, without port. */
  allowedHosts: ReadonlySet<string>;
  faults?: FaultRules;
  nowMs(): number;
  newId(): string;
  senderOf?(executionId: Uuid): LambdaSender | undefined;
  /** Called when a lead or a rejected form was added, and when some were deleted. */
  onChange?(): void;
}

/**
 * A mock CRM (D-200): an HTTPS server that captures forms at `POST /servlet/servlet.WebToLead` and at the paths in variables of the calling
 * lambda. Like the real one, it requires `oid`, and redirects the sender to `retURL`.
 */
export class MockCrm {
  readonly #options: MockCrmOptions;
  #server: Server | undefined;

  constructor(options: MockCrmOptions) {
    this.#options = options;
  }

  /**
   * Starts to listen.
   *
   * @param at.port 0 selects a free port
   * @returns the address
   */
  async start(at: { host: string; port: number }): Promise<{ host: string; port: number }> {
    // Bun and Deno take the certificate only when the server is created.
    const early = otherRuntime(process.versions) === undefined ? undefined : await this.#pair();
    const enter = this.#options.faults?.handlerFor('crm', ({ message }) => `${message}\n`);
    const server = createServer(
      // No authorities, because clients need no certificate here; by default Node loads a hundred of them.
      { ca: [], ...early, ...cutSlowClients(), ...keepIdleConnections() },
      new RequestTurns().schedule((request, response) => {
        const next = () => void this.#answer(request, response);
        if (enter) void enter(request, response, next);
        else next();
      }),
    );
    limitBytesInFlight(server);
    if (!early) this.#secure(server);
    const { port } = await listenAt(server, at);
    this.#server = server;
    return { host: at.host, port };
  }

  async #pair(): Promise<{ key: string; cert: string }> {
    const { keyPem, certPem } = await this.#options.certificate();
    return { key: keyPem, cert: certPem };
  }

  /** Connections wait for the certificate, which may have to be created. */
  #secure(server: Server): void {
    const begin = server.listeners('connection');
    const secure = lazy(async () => {
      server.setSecureContext({ ...(await this.#pair()), ca: [] });
    });
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      socket.on('error', () => {}); // the close event is enough
      secure().then(
        () => {
          for (const listener of begin) listener.call(server, socket);
        },
        () => socket.destroy(),
      );
    });
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server) await closeWithin(server, STOP_GRACE_MS);
  }

  /** The leads, or the rejected forms, that match the filter; newest last. */
  listLeads(filter: LeadFilter = {}): (Lead | RefusedForm)[] {
    const { leads, refusedForms } = this.#options;
    return valuesOf<Lead | RefusedForm>(filter.isRefused ? refusedForms : leads).filter((lead) =>
      matchesLead(lead, filter),
    );
  }

  /** The rejected forms that arrived when they were sent again, and their leads, by the id of the form or lead. */
  deliveries(): Map<Uuid, Delivery> {
    const { leads, refusedForms } = this.#options;
    return deliveriesOf(valuesOf(refusedForms), valuesOf(leads));
  }

  /** The response to the sender of a rejected form; undefined if the invocation sent none. */
  refusalOf(executionId: Uuid): string | undefined {
    return valuesOf(this.#options.refusedForms).find((form) => form.executionId === executionId)?.refused.message;
  }

  /** Deletes a lead or a rejected form. Resolves to whether the id existed. */
  async deleteLead(id: string): Promise<boolean> {
    const { leads, refusedForms } = this.#options;
    const wasThere = (await leads.remove(id)) || (await refusedForms.remove(id));
    if (wasThere) this.#options.onChange?.();
    return wasThere;
  }

  /** Deletes all current leads and rejected forms. Resolves to their number. */
  async deleteLeads(): Promise<number> {
    const { leads, refusedForms, onChange } = this.#options;
    const wereThere = await Promise.all(
      [leads, refusedForms].flatMap((log) => [...log.entries()].map(([id]) => log.remove(id))),
    );
    onChange?.();
    return wereThere.filter(Boolean).length;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { leads, onChange } = this.#options;
    let form = this.#emptyForm(request);
    try {
      this.#refuseRebinding(request);
      const fields = await readForm(request);
      form = { ...form, fields, mapped: mapLead(fields) };
      const lead = { ...form, oid: oidIn(fields, request) };
      await leads.put(lead.id, lead);
      onChange?.();
      const returnUrl = returnUrlOf(lead);
      if (returnUrl) response.writeHead(302, { Location: returnUrl }).end();
      else send(response, 200, 'text/html', THANK_YOU_PAGE);
    } catch (thrown) {
      const error = toPlatformError(thrown);
      const { status } = error;
      const message = status === 500 ? `the lead could not be saved: ${String(error.cause)}` : error.message;
      if (request.method === 'POST') await this.#keepRefused({ ...form, refused: { status, message } });
      send(response, status, 'text/plain', `${message}\n`, error.headers);
    }
  }

  /**
   * Lambdas send their forms to any host, but a browser only to one that its user has entered: a page of another name was made to point
   * here (DNS rebinding). Only browsers send this header.
   */
  #refuseRebinding({ headers }: IncomingMessage): void {
    if (headers['sec-fetch-site'] === undefined || isOurHost(headers.host, this.#options.allowedHosts)) return;
    throw new PlatformError(
      'host_not_allowed',
      'a browser must address the mock CRM as localhost, or by a host in the setting allowedHosts',
    );
  }

  /** Data about a form besides its fields. */
  #emptyForm(request: IncomingMessage): Omit<Lead, 'oid'> {
    // In the header of an intercepted call.
    const executionId = executionHeader.safeParse(request.headers[EXECUTION_HEADER]).data;
    const sender = executionId && this.#options.senderOf?.(executionId);
    return {
      id: this.#options.newId(),
      receivedAt: new Date(this.#options.nowMs()).toISOString(),
      fields: [],
      mapped: {},
      source: { host: request.headers.host ?? '', path: request.url ?? '/' },
      remote: request.socket.remoteAddress ?? '',
      ...(executionId && { executionId, ...(sender && { sender }) }),
    };
  }

  /** Saves a rejected form for display. The sender gets a response even if the disk is full. */
  async #keepRefused(form: RefusedForm): Promise<void> {
    const { refusedForms, onChange } = this.#options;
    await refusedForms.put(form.id, form).then(
      () => onChange?.(),
      () => undefined,
    );
  }
}

function valuesOf<T>(log: KeyedLog<T>): T[] {
  return Array.from(log.entries(), ([, value]) => value);
}

/** The form fields of a request. Throws PlatformError if it contains no valid form. */
async function readForm(request: IncomingMessage): Promise<Lead['fields']> {
  const { url = '/', headers } = request;
  if (!isKnownForm(url) && headers[FORM_HEADER] === undefined) {
    const path = pathnameOf(url);
    throw new PlatformError(
      'not_found',
      `the mock CRM has no form at ${path}: no variable of the lambda names that path. Set a variable (such as CRM_PATH) to ` +
        `${path}, or post the form to ${FORM_PATH}.`,
    );
  }
  if (request.method !== 'POST') {
    throw new PlatformError('method_not_allowed', `a form must be sent with POST instead of ${request.method}`, {
      headers: { Allow: 'POST' },
    });
  }
  return readLeadForm(request, queryOf(request));
}

function oidIn(fields: Lead['fields'], request: IncomingMessage): string {
  const names = WEB_TO_CASE.test(pathnameOf(request.url ?? '/')) ? ['orgid', 'oid'] : ['oid'];
  const oid = fields.find(({ name }) => names.includes(name))?.value.trim();
  if (oid) return oid;
  const query = queryOf(request);
  const fault = names.some((name) => query.has(name))
    ? 'the fields of the form are in the query string. Send them in the body.'
    : `the form has no '${names[0]}', the required id of the CRM organization.`;
  throw new PlatformError('invalid_body', `${fault} No lead was created.`);
}

/** The address to redirect the sender to; only web addresses are accepted. */
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
