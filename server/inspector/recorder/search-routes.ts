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
export function searchRouter({ recorder, lines, historyService, secrets, crm }: Parts, guard: RouteGuard): Router {
  const { view } = guard;
  const { invocations, exchanges, bodies } = recorder;

  /** First those whose name or id matches, then all others. */
  function* resources(caller: Caller, words: readonly string[]): Generator<Entry | undefined> {
    const all = () => resourceTypes.flatMap(({ word }) => view.all(word));
    const isNamed = ({ name, id }: StoredResource) => textWith(words, [`${name} ${id}`]) !== undefined;
    for (const one of all()) yield isNamed(one) ? resourceEntry(one, caller) : undefined;
    for (const one of all()) yield isNamed(one) ? undefined : resourceEntry(one, caller);
  }

  function resourceEntry(one: StoredResource, caller: Caller): Entry | undefined {
    if (!seesRecord(guard, caller, one.id)) return undefined;
    const { id, name, description = '', modified } = one;
    const path = pathOf(one, (parent) => view.find(parent));
    const texts = ({ properties }: StoredResource) => [name, id, path, description, ...textsIn(properties)];
    return {
      kind: 'resource',
      texts: () => texts(one),
      shownTexts: () => texts(maskedRecord(one)),
      hit: () => ({ id, title: name, at: modified.at, detail: `${typeOf(one).singular} ${path}` }),
    };
  }

  function* leads({ sees }: Visibility): Generator<Entry | undefined> {
    for (const lead of [...crm.listLeads({ isRefused: true }), ...crm.listLeads()].reverse()) {
      const { id, receivedAt, fields, mapped, executionId } = lead;
      const texts = () => [...fields.map(({ value }) => value), id, executionId ?? '', lead.source.path];
      const name = [mapped.firstName, mapped.lastName].filter(Boolean).join(' ');
      yield sees(lead.sender?.lambdaId)
        ? {
            kind: 'lead',
            texts,
            hit: () => ({
              id,
              at: receivedAt,
              title: name || mapped.email || 'Lead',
              executionId,
              isFailed: 'refused' in lead,
            }),
          }
        : undefined;
    }
  }

  function* requests(caller: Caller, visibility: Visibility, hide: Hide): Generator<Entry | undefined> {
    const isSeen = isSeenBy(caller, visibility);
    for (const { item, seq } of newestFirst(exchanges)) {
      const row = toExchangeView(item, seq, 0);
      const texts = () => textsOfExchange(factsOfExchange(bodies, item, row));
      yield isSeen(item)
        ? {
            kind: 'request',
            texts,
            shownTexts: hide(texts),
            hit: () => ({
              id: String(seq),
              at: item.at,
              title: `${item.method} ${item.target} ${item.status ?? ''}`,
              executionId: item.executionId,
              isFailed: (item.status ?? 500) >= 400,
            }),
          }
        : undefined;
    }
  }

  /** Invocations, each followed by its outbound calls. */
  function* calls({ sees }: Visibility, hide: Hide): Generator<Entry | undefined> {
    for (const { item, seq } of newestFirst(invocations)) {
      if (!sees(item.lambdaId)) {
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
        shownTexts: hide(texts),
        hit: () => ({ id: executionId, at: item.acceptedAt, title: lambdaName, executionId, isFailed }),
      };
      for (const placed of callsIn(bodies, { item, seq }, details)) {
        const { call } = placed;
        const callTexts = () => textsOfCall(factsOfCall(bodies, placed));
        yield {
          kind: 'call',
          texts: callTexts,
          shownTexts: hide(callTexts),
          hit: () => ({
            id: String(placed.seq),
            at: call.startedAt,
            title: `${call.method} ${call.url} ${call.status ?? ''}`,
            executionId,
            isFailed: isFailedCall(call),
          }),
        };
      }
    }
  }

  function* printed({ sees }: Visibility, hide: Hide): Generator<Entry | undefined> {
    const { ring } = lines;
    const lambdas = new Map(view.all('lambdas').map((one) => [ring.groupOf(one.id), one]));
    for (const { item, seq } of newestFirst(ring)) {
      const lambda = lambdas.get(ring.groupAt(seq));
      const { atMs, text, executionId, stream } = item;
      yield lambda && sees(lambda.id)
        ? {
            kind: 'line',
            texts: () => [text],
            shownTexts: hide(() => [text]),
            hit: () => ({
              id: String(seq),
              at: exactTimeOf(atMs),
              title: lambda.name,
              executionId,
              isFailed: stream === 'stderr',
            }),
          }
        : undefined;
    }
  }

  /** A word that is a number finds the commit of that number. */
  async function* commits(caller: Caller, visibility: Visibility, words: readonly string[]) {
    for await (const whole of historyService.store.history.commits()) {
      const commit = seenPart(whole, visibility);
      yield commit && commitEntry(commit, words, () => maskedCommit(commit, (id) => seesRecord(guard, caller, id)));
    }
  }

  return mountRoutes(searchRoutes, guard, {
    async searchAll({ caller, query: { q = '', limit }, res }) {
      const words = wordsOf(q);
      const visibility = visibilityFor(guard, caller);
      const hidden = secrets();
      const { value } = hiding(hidden);
      const hide: Hide = (texts) => (hidden.length === 0 ? undefined : () => Array.from(texts(), value));
      const sources: Source[] = [
        resources(caller, words),
        leads(visibility),
        requests(caller, visibility, hide),
        calls(visibility, hide),
        printed(visibility, hide),
        commits(caller, visibility, words),
      ];
      const total =
        historyService.store.world.resources.size +
        exchanges.size +
        invocations.size +
        lines.ring.size +
        historyService.store.seq;
      const parts = search(sources, { words, limit, total });
      res.type('application/x-ndjson').set('Cache-Control', 'no-store');
      await sendStream(Readable.from(jsonLines(parts)), res);
    },
  });
}

type Hide = (texts: () => Iterable<string>) => (() => string[]) | undefined;

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
