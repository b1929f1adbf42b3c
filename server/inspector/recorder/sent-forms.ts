import type { FormStop, FormView } from '../../api/routes/forms.ts';
import type { FormFacts } from '../../api/routes/recorded-queries.ts';
import type { Delivery, Lead, RefusedForm } from '../../mocks/crm/lead.ts';
import type { MockCrm } from '../../mocks/crm/mock-crm.ts';
import { hostnameIn, isCrmForm, isKnownForm } from '../../model/crm-form.ts';
import type { FigureState } from '../../model/figures.ts';
import { idIn, jsonIn, memberOf } from '../../model/json.ts';
import { isResponseText, OWN_CRM } from '../../model/outbound-rule.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { mergedEnv } from '../../model/rules/hierarchy.ts';
import { WEB_FORM } from '../../model/web-form.ts';
import { crmFormPaths, crmHostIn, namedForms } from '../../runtimes/lambdas/process/lambda-environment.ts';
import type { Placed } from '../../storage/records/record-log.ts';
import { failureText, isInputInvalid } from './failure-runs.ts';
import { bodyAt } from './recorded-bodies.ts';
import { factsOfExchange, isGatewayKind, isReplayKind, toExchangeView } from './recorded-exchange.ts';
import {
  detailsOf,
  factsOfInvocation,
  failedCallOf,
  isReplayMark,
  type RecordedCall,
  type RecordedInvocation,
  toSummaryView,
} from './recorded-invocation.ts';
import type { Recorder } from './recorder.ts';

/** A form that was sent; what has to be read of it is read when it is needed. */
export interface SentForm extends FormFacts {
  seq: number;
  state: FigureState;
  /** Only of a form that was requested by its id. */
  lead?: FormView['lead'];
}

type StoredForm = Lead | RefusedForm;

type FormParts = Omit<SentForm, 'seq' | 'beganMs' | 'state'>;

/** A record that may be a form. */
interface Candidate {
  atMs: number;
  /** Returns undefined if the record is not a form, or cannot be read. */
  read(): FormParts | undefined;
}

/** A candidate with its position in the list. */
export interface ListedCandidate {
  seq: number;
  beganMs: number;
  readForm(): SentForm | undefined;
}

/** Returns true if a caller requests the records of a resource and may see them. */
type IsWanted = (id: Uuid | undefined) => boolean;

/** The first position of a millisecond is this many after that of the millisecond before. */
const POSITIONS_EACH_MS = 100;
/** Maximum number of cached stops; then the cache starts again. */
const MAX_STOPS = 200_000;
const REJECTIONS: Readonly<Record<number, FormStop>> = { 401: 'unauthorized', 403: 'unauthorized', 429: 'limited' };
const MEMBERS = Object.keys(WEB_FORM.payload);

/**
 * The forms that were sent to lambdas that know a CRM. Leads and rejected forms come from the mock CRM; forms that never reached it come
 * from the recorded invocations and requests.
 */
export class SentForms {
  readonly #recorder: Recorder;
  readonly #crm: MockCrm;
  readonly #view: WorldView;
  /** The place at which the form of an invocation stopped, by the lambda's variables when it was first read; undefined for no form. */
  readonly #stops = new Map<number, FormStop | undefined>();

  constructor({ recorder, crm, view }: { recorder: Recorder; crm: MockCrm; view: WorldView }) {
    this.#recorder = recorder;
    this.#crm = crm;
    this.#view = view;
  }

  /** The newest first, from a position on, with the records that turn out not to be forms. */
  *list(isWanted: IsWanted, before = Number.POSITIVE_INFINITY): Generator<ListedCandidate> {
    const stored = this.storedForms(() => true);
    const lambdaIds = this.#formLambdas(stored);
    const replayed = this.#replayedKeys(lambdaIds);
    const deliveries = this.#crm.deliveries();
    const candidates = [
      ...stored.filter(({ sender }) => isWanted(sender?.lambdaId)).map((lead) => this.#leadCandidate(lead, deliveries)),
      ...this.#invocations(stored, lambdaIds, replayed, isWanted),
      ...this.#requests(lambdaIds, replayed, isWanted),
    ].sort((a, b) => b.atMs - a.atMs);
    let seq = Number.POSITIVE_INFINITY;
    for (const candidate of candidates) {
      seq = Math.min(seq - 1, (candidate.atMs + 1) * POSITIONS_EACH_MS);
      const position = seq;
      if (position < before) yield { seq, beganMs: candidate.atMs, readForm: () => toForm(candidate, position) };
    }
  }

  find(id: string, isWanted: IsWanted): SentForm | undefined {
    const { invocations, exchanges } = this.#recorder;
    const lead = this.storedForms(isWanted).find((form) => form.id === id);
    if (lead) {
      const deliveries = this.#crm.deliveries();
      const form = toForm(this.#leadCandidate(lead, deliveries), 0);
      return form && { ...form, lead: { ...lead, ...deliveries.get(id) } };
    }
    const invocation = invocations.find(id);
    if (invocation && isWanted(invocation.item.lambdaId))
      return toForm(
        this.#invocationCandidate(
          invocation.seq,
          beganMsOf(invocation),
          this.#replayedKeys([invocation.item.lambdaId]).has(invocations.groupOf(id)),
        ),
        0,
      );
    const request = /^request-\d{1,15}$/.test(id) ? exchanges.at(Number(id.slice('request-'.length))) : undefined;
    if (request?.item.endpointId === undefined || !isWanted(request.item.endpointId)) return undefined;
    const lambdaIds = this.#formLambdas(this.storedForms(() => true));
    const resent = this.#resentRequests(this.#replayedKeys(lambdaIds));
    const { seq, item } = request;
    return toForm(this.#requestCandidate(seq, Date.parse(item.at), isWanted, this.#arrivals(), resent), 0);
  }

  /** The leads and rejected forms that the mock CRM stores. */
  storedForms(isWanted: IsWanted): StoredForm[] {
    const stored = [...this.#crm.listLeads(), ...this.#crm.listLeads({ isRefused: true })];
    return stored.filter(({ sender }) => isWanted(sender?.lambdaId));
  }

  /** Ids of the lambdas whose variables name a CRM, or that have sent a form before. */
  #formLambdas(stored: readonly StoredForm[]): Set<Uuid> {
    const senders = stored.flatMap(({ sender }) => sender?.lambdaId ?? []);
    const named = this.#view.all('lambdas').filter((lambda) => {
      const env = mergedEnv(this.#view, lambda);
      return env.CRM_OID !== undefined || crmHostIn(env.CRM_API_BASEPATH) !== undefined;
    });
    return new Set([...senders, ...named.map(({ id }) => id)]);
  }

  #leadCandidate(lead: StoredForm, deliveries: ReadonlyMap<Uuid, Delivery>): Candidate {
    const { id, receivedAt, mapped, fields, oid, executionId, sender, source } = lead;
    const refused = 'refused' in lead ? lead.refused : undefined;
    const stop = refused === undefined ? 'delivered' : deliveries.has(id) ? 'replayed' : 'rejected';
    const isForAnotherCrm = !refused && sender?.crmOid !== undefined && oid !== sender.crmOid;
    const view = (): FormView => ({
      ...{ seq: 0, id, at: receivedAt, stop, reason: refused?.message ?? '', executionId },
      mapped: { ...mapped, ...(oid !== undefined && { oid }) },
      ...(sender && { lambdaId: sender.lambdaId, lambdaName: sender.lambdaName }),
      ...(isForAnotherCrm && { isForAnotherCrm }),
      ...(!refused && !isKnownForm(source.path) && { isUnusualPath: true }),
    });
    const body = () => fields.map(({ value }) => value);
    return { atMs: Date.parse(receivedAt), read: () => ({ stop, view, body }) };
  }

  /** Invocations of which the mock CRM stores nothing. A replay is a second form only if it arrived at the CRM. */
  *#invocations(
    stored: readonly StoredForm[],
    lambdaIds: ReadonlySet<Uuid>,
    replayed: ReadonlySet<number>,
    isWanted: IsWanted,
  ): Generator<Candidate> {
    const { invocations } = this.#recorder;
    const storedKeys = new Set(stored.map(({ executionId = '' }) => invocations.groupOf(executionId)));
    const groups = new Set([...lambdaIds].filter(isWanted).map((id) => invocations.groupOf(id)));
    for (const { seq, group, key, mark, beganMs } of invocations.marks())
      if (groups.has(group) && !storedKeys.has(key) && (!isReplayMark(mark) || this.#stopAt(seq) === 'delivered'))
        yield this.#invocationCandidate(seq, beganMs, replayed.has(key));
  }

  #invocationCandidate(seq: number, atMs: number, isReplayed: boolean): Candidate {
    const { invocations, bodies } = this.#recorder;
    const read = (): FormParts | undefined => {
      const stop = this.#stopAt(seq);
      // What is not a form is not read again.
      const item = stop && invocations.at(seq)?.item;
      if (!item) return undefined;
      const finalStop = isReplayed && stop !== 'delivered' ? 'replayed' : stop;
      const reasonOf = (accepted: RecordedCall | undefined): string => {
        if (stop === 'unsent') return 'the lambda made no outbound call';
        if (stop === 'delivered')
          return accepted
            ? `sent to ${new URL(accepted.url).host}, which responded with ${accepted.status}`
            : 'sent to the CRM without interception';
        if (stop !== 'answered') return failureText(bodies, item, undefined);
        return `an outbound rule responded ${accepted ? `with ${accepted.status} ` : ''}instead of the CRM`;
      };
      const view = (): FormView => {
        const accepted = stop === 'answered' || stop === 'delivered' ? this.#acceptedCallOf(item) : undefined;
        return {
          ...{ seq: 0, id: item.executionId, at: item.acceptedAt, stop: finalStop },
          reason: reasonOf(accepted),
          mapped: payloadIn(bodyAt(bodies, item.event)?.bytes),
          ...{ lambdaId: item.lambdaId, lambdaName: item.lambdaName, executionId: item.executionId },
          rule: stop === 'delivered' ? undefined : (accepted ?? failedCallOf(bodies, item))?.rules?.at(-1),
        };
      };
      const facts = factsOfInvocation(bodies, item, toSummaryView(item, seq, undefined), () => '');
      return { stop: finalStop, view, body: () => [facts.event()] };
    };
    return { atMs, read };
  }

  #stopAt(seq: number): FormStop | undefined {
    if (this.#stops.has(seq)) return this.#stops.get(seq);
    const placed = this.#recorder.invocations.at(seq);
    if (!placed) return undefined;
    if (this.#stops.size >= MAX_STOPS) this.#stops.clear();
    const stop = this.#stopOfInvocation(placed.item);
    this.#stops.set(seq, stop);
    return stop;
  }

  #stopOfInvocation(item: RecordedInvocation): FormStop | undefined {
    const { bodies } = this.#recorder;
    const { outcome, outboundCalls, outboundFailures, event } = item;
    if (event[2] === 0) return undefined;
    const call = failedCallOf(bodies, item);
    // The mock CRM has received the form; it was deleted there, or is too old.
    if (call?.caughtBy === 'crm') return undefined;
    const accepted = call || !outcome.ok ? undefined : this.#acceptedCallOf(item);
    if (accepted) return isResponseText(ruleTextOf(accepted)) ? 'answered' : 'delivered';
    const isRejected = call?.status !== undefined && URL.canParse(call.url) && isKnownForm(new URL(call.url).pathname);
    const isInvalid = !outcome.ok && isInputInvalid(bodies, item);
    const body = bodyAt(bodies, event);
    const isCut = event[1] < event[2];
    const isWebForm = Object.keys(payloadIn(body?.bytes)).length > 0;
    // A lambda without its own CRM_OID that inherits one or has sent a form may do other things as well.
    const isForm = isRejected || isInvalid || isCut || isWebForm || hasOid(this.#view.find(item.lambdaId));
    if (!isForm) return undefined;
    if (call) return isRejected ? 'rejected' : 'call';
    if (!outcome.ok) return isInvalid ? 'invalid' : 'failed';
    return outboundCalls === 0 && outboundFailures === 0 && isWebForm ? 'unsent' : undefined;
  }

  /** The call with the form, if a real CRM, or an outbound rule instead of it, responded to it with success. */
  #acceptedCallOf(item: RecordedInvocation): RecordedCall | undefined {
    if (item.outboundCalls === 0) return undefined;
    const env = this.#envOf(item);
    const crm = crmHostIn(env.CRM_API_BASEPATH);
    const forms = [...namedForms(env), ...(crm ? [{ ...crm, paths: crmFormPaths(env) }] : [])];
    // A rule may respond to any path of the CRM; a real CRM has other paths as well.
    const isForm = (call: RecordedCall) =>
      isCrmForm({ ...call, contentType: call.request?.contentType }, forms) ||
      (call.method === 'POST' &&
        URL.canParse(call.url) &&
        isResponseText(ruleTextOf(call)) &&
        (hostnameIn(new URL(call.url)) === crm?.hostname || ruleTextOf(call).endsWith(` for ${OWN_CRM}`)));
    const call = detailsOf(this.#recorder.bodies, item)?.outbound.findLast(isForm);
    return call && (call.status ?? 500) < 400 && call.caughtBy === undefined ? call : undefined;
  }

  /** Keys of the invocations of these lambdas whose form arrived when it was sent again. */
  #replayedKeys(lambdaIds: Iterable<Uuid>): Set<number> {
    const { invocations } = this.#recorder;
    const groups = new Set(Array.from(lambdaIds, (id) => invocations.groupOf(id)));
    const keys = new Set<number>();
    const add = (original: Uuid | undefined): void => {
      for (let id = original; id !== undefined && !keys.has(invocations.groupOf(id)); ) {
        keys.add(invocations.groupOf(id));
        id = invocations.find(id)?.item.replayOf;
      }
    };
    for (const { sender } of this.#crm.listLeads()) add(sender?.replayOf);
    for (const { seq, group, mark } of invocations.marks())
      if (groups.has(group) && isReplayMark(mark) && this.#stopAt(seq) === 'delivered')
        add(invocations.at(seq)?.item.replayOf);
    return keys;
  }

  /** Requests to endpoints of these lambdas that the gateway rejected. */
  *#requests(lambdaIds: ReadonlySet<Uuid>, replayed: ReadonlySet<number>, isWanted: IsWanted): Generator<Candidate> {
    const { exchanges } = this.#recorder;
    const endpoints = this.#view
      .all('apiendpoints')
      .filter((endpoint) => lambdaIds.has(targetIdOf(endpoint)) && isWanted(endpoint.id));
    const groups = new Set(endpoints.map(({ id }) => exchanges.groupOf(id)));
    const noKey = exchanges.groupOf('');
    const arrivals = this.#arrivals();
    const resent = this.#resentRequests(replayed);
    for (const { seq, group, key, mark, kind, beganMs } of exchanges.marks())
      if (isGatewayKind(kind) && mark >= 400 && key === noKey && groups.has(group))
        yield this.#requestCandidate(seq, beganMs, isWanted, arrivals, resent);
  }

  /** When the newest lead of each event arrived, by the event's text, for each lambda that has sent a form. A replay repeats another request. */
  #arrivals(): Map<Uuid, Map<string, string>> {
    const arrivals = new Map<Uuid, Map<string, string>>();
    for (const form of this.storedForms(() => true)) {
      const { sender, receivedAt } = form;
      if (!sender) continue;
      const ofLambda = arrivals.get(sender.lambdaId) ?? new Map<string, string>();
      arrivals.set(sender.lambdaId, ofLambda);
      if (!('refused' in form) && sender.event !== undefined && sender.replayOf === undefined)
        ofLambda.set(sender.event, receivedAt);
    }
    return arrivals;
  }

  /** Numbers of the rejected requests that the window sent again, with or without edits, and whose form arrived. */
  #resentRequests(replayed: ReadonlySet<number>): Set<number> {
    const { exchanges, invocations } = this.#recorder;
    const delivered = new Set(replayed);
    for (const { executionId } of this.#crm.listLeads())
      if (executionId !== undefined) delivered.add(invocations.groupOf(executionId));
    const resent = new Set<number>();
    for (const { seq, key, kind } of exchanges.marks()) {
      if (!isReplayKind(kind)) continue;
      const { replayOf: original, endpointId, executionId = '' } = exchanges.at(seq)?.item ?? {};
      const isAtCrm = this.#stopAt(invocations.placeOf(executionId) ?? -1) === 'delivered';
      if (!(isAtCrm || delivered.has(key) || resent.has(seq))) continue;
      if (original !== undefined && exchanges.at(original)?.item.endpointId === endpointId) resent.add(original);
    }
    return resent;
  }

  #requestCandidate(
    seq: number,
    atMs: number,
    isWanted: IsWanted,
    arrivals: ReadonlyMap<Uuid, ReadonlyMap<string, string>>,
    resent: ReadonlySet<number>,
  ): Candidate {
    const { exchanges, bodies } = this.#recorder;
    const read = (): FormParts | undefined => {
      const placed = exchanges.at(seq);
      if (placed?.item.method !== 'POST' || placed.item.executionId !== undefined) return undefined;
      const { item } = placed;
      const { status = 0 } = item;
      const body = () => item.request && bodyAt(bodies, item.request)?.bytes;
      const endpoint = this.#view.find(item.endpointId ?? '');
      const lambda = endpoint && this.#view.find(targetIdOf(endpoint));
      const ofLambda = lambda && arrivals.get(lambda.id);
      const isForm = hasOid(lambda) || ofLambda !== undefined || Object.keys(payloadIn(body())).length > 0;
      if (!isForm) return undefined;
      // Sent again by the window or by the visitor.
      const bytes = ofLambda && body();
      const arrivedAt = bytes && ofLambda.get(Buffer.from(bytes).toString());
      const isResent = resent.has(seq) || (arrivedAt !== undefined && arrivedAt >= item.at);
      const stop = isResent ? 'replayed' : (REJECTIONS[status] ?? 'gateway');
      const view = (): FormView => ({
        ...{ seq: 0, id: `request-${seq}`, at: item.at, stop, requestSeq: seq, endpointId: item.endpointId },
        reason: `${status}: ${messageIn(item.response && bodyAt(bodies, item.response)?.bytes)}`,
        mapped: payloadIn(body()),
        ...(lambda && isWanted(lambda.id) && { lambdaId: lambda.id, lambdaName: lambda.name }),
      });
      const facts = factsOfExchange(bodies, item, toExchangeView(item, seq, 0));
      return { stop, view, body: () => [item.target, ...facts.body()] };
    };
    return { atMs, read };
  }

  #envOf({ lambdaId }: RecordedInvocation): Record<string, string> {
    const lambda = this.#view.find(lambdaId);
    return lambda ? mergedEnv(this.#view, lambda) : {};
  }
}

/** Returns true if the lambda itself has the variable; an inherited one may be meant for other lambdas. */
const hasOid = (lambda: StoredResource | undefined) => memberOf(lambda?.properties.env, 'CRM_OID') !== undefined;

const ruleTextOf = ({ rules }: RecordedCall) => rules?.at(-1)?.text ?? '';

/** The id of the target of an endpoint; empty if it has none. */
function targetIdOf({ properties: { implementation_id: target } }: StoredResource): Uuid {
  const targetId = idIn(target) ?? target;
  return typeof targetId === 'string' ? targetId : '';
}

const beganMsOf = ({ item }: Placed<RecordedInvocation>) => Date.parse(item.acceptedAt);

function toForm({ atMs, read }: Candidate, seq: number): SentForm | undefined {
  const form = read();
  if (!form) return undefined;
  const state = form.stop === 'delivered' ? 'ok' : form.stop === 'replayed' ? 'refused' : 'failed';
  return { ...form, seq, beganMs: atMs, state, view: () => ({ ...form.view(), seq }) };
}

/** The members of the web form in a body of JSON. */
function payloadIn(bytes: Uint8Array | undefined): Record<string, string> {
  const payload = memberOf(jsonOfBytes(bytes), 'payload');
  return Object.fromEntries(
    MEMBERS.flatMap((name) => {
      const value = memberOf(payload, name);
      return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];
    }),
  );
}

function messageIn(bytes: Uint8Array | undefined): string {
  const message = memberOf(jsonOfBytes(bytes), 'message');
  return typeof message === 'string' ? message : 'the response gives no reason';
}

const jsonOfBytes = (bytes: Uint8Array | undefined) => bytes && jsonIn(Buffer.from(bytes).toString());
