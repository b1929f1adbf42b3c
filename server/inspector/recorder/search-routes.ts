import { Readable } from 'node:stream';
import type { Router } from 'express';
import { textsOfCall, textsOfExchange, textsOfInvocation } from '../../api/routes/recorded-queries.ts';
import { searchRoutes } from '../../api/routes/search.ts';
import { sendStream } from '../../api/server/compress.ts';
import { mountRoutes, type RouteGuard } from '../../api/server/mount-routes.ts';
import type { MockCrm } from '../../mocks/crm/mock-crm.ts';
import type { Caller } from '../../model/caller.ts';
import type { Commit } from '../../model/commit.ts';
import { decodeSource } from '../../model/decode-text.ts';
import { isFailedCall } from '../../model/failed-call.ts';
import type { LogLine } from '../../model/invocation.ts';
import { exactTimeOf, timeOf } from '../../model/iso-time.ts';
import type { Json } from '../../model/json.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { resourceTypes, typeOf } from '../../model/registry.ts';
import { pathOf } from '../../model/resource-path.ts';
import { commitSentence } from '../../model/rules/commit-sentence.ts';
import { maskedCommit, maskedRecord } from '../../model/rules/masking.ts';
import { seenPart, seesRecord } from '../../services/history/history-routes.ts';
import type { ByteLog } from '../../storage/records/byte-log.ts';
import type { Placed, RecordLog } from '../../storage/records/record-log.ts';
import { factsOfExchange, type RecordedExchange, toExchangeView } from './recorded-exchange.ts';
import { detailsOf, factsOfInvocation, type RecordedInvocation, toSummaryView } from './recorded-invocation.ts';
import { callsIn, factsOfCall } from './recorded-part-routes.ts';
import { isSeenBy, type RecordedData, readingFor } from './recorder-routes.ts';
import { type Entry, type Source, search, textWith, wordsOf } from './search.ts';

type Parts = RecordedData & { crm: MockCrm };

/** One search over resources, records and history. */
export function searchRouter(parts: Parts, guard: RouteGuard): Router {
  const { recorder, lines, historyService } = parts;
  return mountRoutes(searchRoutes, guard, {
    async searchAll({ caller, query: { q = '', limit }, res }) {
      const terms = wordsOf(q);
      const { world, seq } = historyService.store;
      const total = world.resources.size + recorder.exchanges.size + recorder.invocations.size + lines.ring.size + seq;
      const found = search(sourcesFor(parts, guard, caller, terms), { terms, limit, total });
      res.type('application/x-ndjson').set('Cache-Control', 'no-store');
      await sendStream(Readable.from(jsonLines(found)), res);
    },
  });
}

/** Returns the sources that one caller searches. */
function sourcesFor(parts: Parts, guard: RouteGuard, caller: Caller, terms: readonly string[]): Source[] {
  const { crm, historyService } = parts;
  const { exchanges, invocations, bodies } = parts.recorder;
  const { ring } = parts.lines;
  const { view } = guard;
  const { hide, seesAll, sees } = readingFor(parts, guard, caller);
  const isSeen = isSeenBy(caller, sees);
  const isReadable = (id: Uuid) => seesRecord(guard, caller, id);
  const isNamed = ({ name, id }: StoredResource) => textWith(terms, [`${name} ${id}`]) !== undefined;
  const recorded = (entry: Entry): Entry => ({ ...entry, shownTexts: () => Array.from(entry.texts(), hide.value) });
  /** First those whose name or id matches, then all others. */
  const resources = function* () {
    for (const isFirst of [true, false])
      for (const { collection } of resourceTypes)
        for (const resource of view.all(collection))
          yield isNamed(resource) === isFirst && isReadable(resource.id) ? resourceEntry(view, resource) : undefined;
  };
  const leads = function* () {
    for (const lead of [...crm.listLeads({ isRefused: true }), ...crm.listLeads()].reverse())
      yield sees(lead.sender?.lambdaId) ? leadEntry(lead) : undefined;
  };
  const requests = function* () {
    for (const placed of newestFirst(exchanges))
      yield isSeen(placed.item) ? recorded(requestEntry(bodies, placed)) : undefined;
  };
  /** Each followed by its outbound calls. */
  const calls = function* () {
    for (const placed of newestFirst(invocations)) {
      if (!sees(placed.item.lambdaId)) yield undefined;
      else for (const entry of invocationEntries(bodies, placed)) yield recorded(entry);
    }
  };
  const printed = function* () {
    const lambdas = new Map(view.all('lambdas').map((lambda) => [ring.groupOf(lambda.id), lambda]));
    for (const placed of newestFirst(ring)) {
      const lambda = lambdas.get(ring.groupAt(placed.seq));
      yield lambda && sees(lambda.id) ? recorded(lineEntry(lambda.name, placed)) : undefined;
    }
  };
  const commits = async function* () {
    for await (const wholeCommit of historyService.store.history.commits()) {
      const commit = seenPart(wholeCommit, { seesAll, sees });
      yield commit && commitEntry(commit, terms, () => maskedCommit(commit, isReadable));
    }
  };
  return [resources(), leads(), requests(), calls(), printed(), commits()];
}

function resourceEntry(view: WorldView, resource: StoredResource): Entry {
  const { id, name, description = '', modified } = resource;
  const path = pathOf(resource, (parent) => view.find(parent));
  const texts = ({ properties }: StoredResource) => [name, id, path, description, ...textsIn(properties)];
  return {
    kind: 'resource',
    texts: () => texts(resource),
    shownTexts: () => texts(maskedRecord(resource)),
    hit: () => ({ id, title: name, at: modified.at, detail: `${typeOf(resource).singular} ${path}` }),
  };
}

function leadEntry(lead: ReturnType<MockCrm['listLeads']>[number]): Entry {
  const { id, receivedAt: at, fields, mapped, executionId } = lead;
  const name = [mapped.firstName, mapped.lastName].filter(Boolean).join(' ');
  const title = name || mapped.email || 'Lead';
  return {
    kind: 'lead',
    texts: () => [...fields.map(({ value }) => value), id, executionId ?? '', lead.source.path],
    hit: () => ({ id, at, title, executionId, isFailed: 'refused' in lead }),
  };
}

function requestEntry(bodies: ByteLog, { item, seq }: Placed<RecordedExchange>): Entry {
  const { at, method, target, status, executionId } = item;
  const title = () => `${method} ${target} ${status ?? ''}`;
  return {
    kind: 'request',
    texts: () => textsOfExchange(factsOfExchange(bodies, item, toExchangeView(item, seq, 0))),
    hit: () => ({ id: String(seq), at, title: title(), executionId, isFailed: (status ?? 500) >= 400 }),
  };
}

function* invocationEntries(bodies: ByteLog, { item, seq }: Placed<RecordedInvocation>): Generator<Entry> {
  const { executionId, lambdaName: title, acceptedAt: at, outcome, outboundFailures } = item;
  const details = detailsOf(bodies, item);
  const row = toSummaryView(item, seq, undefined);
  yield {
    kind: 'invocation',
    texts: () => textsOfInvocation(factsOfInvocation(bodies, item, row, () => '', details)),
    hit: () => ({ id: executionId, at, title, executionId, isFailed: !outcome.ok || outboundFailures > 0 }),
  };
  for (const placed of callsIn(bodies, { item, seq }, details)) {
    const { call } = placed;
    yield {
      kind: 'call',
      texts: () => textsOfCall(factsOfCall(bodies, placed)),
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

function lineEntry(title: string, { item, seq }: Placed<LogLine>): Entry {
  const { atMs, text, executionId, stream } = item;
  return {
    kind: 'line',
    texts: () => [text],
    hit: () => ({ id: String(seq), title, executionId, isFailed: stream === 'stderr', at: exactTimeOf(atMs) }),
  };
}

/** A word that is a number finds the commit of that number. */
function commitEntry(commit: Commit, terms: readonly string[], maskedView: () => Commit): Entry {
  const { seq, atMs, cause } = commit;
  const number = terms.find((term) => term.replace(/^#/, '') === String(seq)) ?? '';
  const headings = [number, cause.action ?? '', cause.note ?? '', cause.actor?.name ?? ''];
  const texts = (view: Commit): string[] => [
    ...headings,
    commitSentence(view),
    ...view.resources.flatMap(({ id, path, type }) => [path, type, id]),
    ...view.ops.flatMap((operation) => ('value' in operation ? [...textsIn(operation.value, operation.path)] : [])),
  ];
  return {
    kind: 'commit',
    texts: () => texts(commit),
    shownTexts: () => texts(maskedView()),
    hit: () => ({
      id: String(seq),
      at: timeOf(atMs),
      title: commitSentence(maskedView()),
    }),
  };
}

/** The texts in the properties of a resource: values, and the names that a person has chosen; the source of a lambda is decoded. */
function* textsIn(value: Json, name = '', depth = 0): Generator<string> {
  if (typeof value === 'string') yield name.endsWith('code') ? decodeSource(value) : value;
  else if (typeof value === 'object' && value !== null) {
    for (const [member, memberValue] of Object.entries(value)) {
      if (depth > 0 && !Array.isArray(value)) yield member;
      yield* textsIn(memberValue, member, depth + 1);
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
