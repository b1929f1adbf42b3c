import { Readable } from 'node:stream';
import type { Router } from 'express';
import { textsOfCall, textsOfExchange, textsOfInvocation } from '../../api/routes/recorded-queries.ts';
import { searchRoutes } from '../../api/routes/search.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import { sendStream } from '../../api/server/send-stream.ts';
import { type Visibility, visibilityFor } from '../../api/server/visibility.ts';
import type { MockCrm } from '../../mocks/crm/mock-crm.ts';
import { decodeSource } from '../../model/base64-text.ts';
import type { Caller } from '../../model/caller.ts';
import type { Commit } from '../../model/commit.ts';
import { isFailedCall } from '../../model/failed-call.ts';
import { exactTimeOf, timeOf } from '../../model/iso-time.ts';
import type { Json } from '../../model/json.ts';
import type { StoredResource } from '../../model/record.ts';
import { resourceTypes, typeOf } from '../../model/registry.ts';
import { pathOf } from '../../model/resource-path.ts';
import { maskedCommit, maskedRecord } from '../../model/rules/masking.ts';
import { seenPart, seesRecord } from '../../services/history/history-routes.ts';
import type { Placed, RecordLog } from '../../storage/records/record-log.ts';
import { hiding } from './hiding.ts';
import { callsIn, factsOfCall } from './outbound-list-routes.ts';
import { factsOfExchange, toExchangeView } from './recorded-exchange.ts';
import { detailsOf, factsOfInvocation, toSummaryView } from './recorded-invocation.ts';
import { isSeenBy, type RecordedData } from './recorder-routes.ts';
import { type Entry, type Source, search, textWith, wordsOf } from './search.ts';

type Parts = Pick<RecordedData, 'recorder' | 'lines' | 'historyService' | 'secrets'> & { crm: MockCrm };

/** One search over resources, records and history. */
export function searchRouter(parts: Parts, guard: RouteGuard): Router {
  return mountRoutes(searchRoutes, guard, {
    async searchAll({ caller, query: { q = '', limit }, res }) {
      const words = wordsOf(q);
      const searched = new Searched(parts, guard, caller, words);
      const found = search(searched.sources(), { words, limit, total: searched.size });
      res.type('application/x-ndjson').set('Cache-Control', 'no-store');
      await sendStream(Readable.from(jsonLines(found)), res);
    },
  });
}

/** What one caller searches. */
class Searched {
  readonly #parts: Parts;
  readonly #guard: RouteGuard;
  readonly #caller: Caller;
  readonly #words: readonly string[];
  readonly #visibility: Visibility;
  /** Texts without secrets; undefined if there are none. */
  readonly #hide: (texts: () => Iterable<string>) => (() => string[]) | undefined;

  constructor(parts: Parts, guard: RouteGuard, caller: Caller, words: readonly string[]) {
    this.#parts = parts;
    this.#guard = guard;
    this.#caller = caller;
    this.#words = words;
    this.#visibility = visibilityFor(guard, caller);
    const hidden = parts.secrets();
    const { value } = hiding(hidden);
    this.#hide = (texts) => (hidden.length === 0 ? undefined : () => Array.from(texts(), value));
  }

  get size(): number {
    const { recorder, lines, historyService } = this.#parts;
    const { world, seq } = historyService.store;
    return world.resources.size + recorder.exchanges.size + recorder.invocations.size + lines.ring.size + seq;
  }

  sources(): Source[] {
    return [this.#resources(), this.#leads(), this.#requests(), this.#calls(), this.#printed(), this.#commits()];
  }

  /** First those whose name or id matches, then all others. */
  *#resources(): Generator<Entry | undefined> {
    const all = () => resourceTypes.flatMap(({ word }) => this.#guard.view.all(word));
    const isNamed = ({ name, id }: StoredResource) => textWith(this.#words, [`${name} ${id}`]) !== undefined;
    for (const one of all()) yield isNamed(one) ? this.#resourceEntry(one) : undefined;
    for (const one of all()) yield isNamed(one) ? undefined : this.#resourceEntry(one);
  }

  #resourceEntry(one: StoredResource): Entry | undefined {
    if (!seesRecord(this.#guard, this.#caller, one.id)) return undefined;
    const { id, name, description = '', modified } = one;
    const path = pathOf(one, (parent) => this.#guard.view.find(parent));
    const texts = ({ properties }: StoredResource) => [name, id, path, description, ...textsIn(properties)];
    return {
      kind: 'resource',
      texts: () => texts(one),
      shownTexts: () => texts(maskedRecord(one)),
      hit: () => ({ id, title: name, at: modified.at, detail: `${typeOf(one).singular} ${path}` }),
    };
  }

  *#leads(): Generator<Entry | undefined> {
    const { crm } = this.#parts;
    for (const lead of [...crm.listLeads({ isRefused: true }), ...crm.listLeads()].reverse()) {
      if (!this.#visibility.sees(lead.sender?.lambdaId)) {
        yield undefined;
        continue;
      }
      const { id, receivedAt: at, fields, mapped, executionId } = lead;
      const name = [mapped.firstName, mapped.lastName].filter(Boolean).join(' ');
      const title = name || mapped.email || 'Lead';
      yield {
        kind: 'lead',
        texts: () => [...fields.map(({ value }) => value), id, executionId ?? '', lead.source.path],
        hit: () => ({ id, at, title, executionId, isFailed: 'refused' in lead }),
      };
    }
  }

  *#requests(): Generator<Entry | undefined> {
    const { exchanges, bodies } = this.#parts.recorder;
    const isSeen = isSeenBy(this.#caller, this.#visibility);
    for (const { item, seq } of newestFirst(exchanges)) {
      if (!isSeen(item)) {
        yield undefined;
        continue;
      }
      const { at, method, target, status, executionId } = item;
      const row = toExchangeView(item, seq, 0);
      const texts = () => textsOfExchange(factsOfExchange(bodies, item, row));
      const title = () => `${method} ${target} ${status ?? ''}`;
      yield {
        kind: 'request',
        texts,
        shownTexts: this.#hide(texts),
        hit: () => ({ id: String(seq), at, title: title(), executionId, isFailed: (status ?? 500) >= 400 }),
      };
    }
  }

  /** Invocations, each followed by its outbound calls. */
  *#calls(): Generator<Entry | undefined> {
    const { invocations, bodies } = this.#parts.recorder;
    for (const { item, seq } of newestFirst(invocations)) {
      if (!this.#visibility.sees(item.lambdaId)) {
        yield undefined;
        continue;
      }
      const { executionId, lambdaName, outcome, outboundFailures } = item;
      const details = detailsOf(bodies, item);
      const row = toSummaryView(item, seq, undefined);
      const texts = () => textsOfInvocation(factsOfInvocation(bodies, item, row, () => '', details));
      const isFailed = !outcome.ok || outboundFailures > 0;
      yield {
        kind: 'invocation',
        texts,
        shownTexts: this.#hide(texts),
        hit: () => ({ id: executionId, at: item.acceptedAt, title: lambdaName, executionId, isFailed }),
      };
      for (const placed of callsIn(bodies, { item, seq }, details)) yield this.#callEntry(placed);
    }
  }

  #callEntry(placed: ReturnType<typeof callsIn>[number]): Entry {
    const { call, seq, of } = placed;
    const texts = () => textsOfCall(factsOfCall(this.#parts.recorder.bodies, placed));
    const title = () => `${call.method} ${call.url} ${call.status ?? ''}`;
    return {
      kind: 'call',
      texts,
      shownTexts: this.#hide(texts),
      hit: () => ({
        id: String(seq),
        at: call.startedAt,
        title: title(),
        executionId: of.executionId,
        isFailed: isFailedCall(call),
      }),
    };
  }

  *#printed(): Generator<Entry | undefined> {
    const { ring } = this.#parts.lines;
    const lambdas = new Map(this.#guard.view.all('lambdas').map((one) => [ring.groupOf(one.id), one]));
    for (const { item, seq } of newestFirst(ring)) {
      const lambda = lambdas.get(ring.groupAt(seq));
      if (!lambda || !this.#visibility.sees(lambda.id)) {
        yield undefined;
        continue;
      }
      const { atMs, text, executionId, stream } = item;
      const texts = () => [text];
      const place = { id: String(seq), title: lambda.name, executionId, isFailed: stream === 'stderr' };
      yield { kind: 'line', texts, shownTexts: this.#hide(texts), hit: () => ({ ...place, at: exactTimeOf(atMs) }) };
    }
  }

  /** A word that is a number finds the commit of that number. */
  async *#commits(): AsyncGenerator<Entry | undefined> {
    for await (const whole of this.#parts.historyService.store.history.commits()) {
      const commit = seenPart(whole, this.#visibility);
      const shown = (one: Commit) => maskedCommit(one, (id) => seesRecord(this.#guard, this.#caller, id));
      yield commit && commitEntry(commit, this.#words, () => shown(commit));
    }
  }
}

function commitEntry(commit: Commit, words: readonly string[], shown: () => Commit): Entry {
  const { seq, atMs, cause } = commit;
  const number = words.find((word) => word.replace(/^#/, '') === String(seq)) ?? '';
  const about = [number, cause.action ?? '', cause.note ?? '', cause.actor?.name ?? ''];
  const texts = ({ ops, resources }: Commit): string[] => [
    ...about,
    ...resources.flatMap(({ id, path, type }) => [path, type, id]),
    ...ops.flatMap((one) => ('value' in one ? [...textsIn(one.value, one.path)] : [])),
  ];
  return {
    kind: 'commit',
    texts: () => texts(commit),
    shownTexts: () => texts(shown()),
    hit: () => ({
      id: String(seq),
      at: timeOf(atMs),
      title: `${cause.actor?.name ?? cause.via}: ${cause.action} ${commit.resources.map(({ name }) => name).join(', ')}`,
    }),
  };
}

/** The texts in the properties of a resource: values, and the names that a person has chosen; the source of a lambda is decoded. */
function* textsIn(value: Json, name = '', depth = 0): Generator<string> {
  if (typeof value === 'string') yield name.endsWith('code') ? decodeSource(value) : value;
  else if (typeof value === 'object' && value !== null) {
    for (const [member, one] of Object.entries(value)) {
      if (depth > 0 && !Array.isArray(value)) yield member;
      yield* textsIn(one, member, depth + 1);
    }
  } else yield String(value);
}

function* newestFirst<T>(log: RecordLog<T>): Generator<Placed<T>> {
  for (let seq = log.newest; seq >= log.oldest; seq--) {
    const placed = log.at(seq);
    if (placed) yield placed;
  }
}

async function* jsonLines(values: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const value of values) yield `${JSON.stringify(value)}\n`;
}
