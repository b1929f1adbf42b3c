// Fails each test during which a platform in the test's process computed for long in one turn of the event loop: every other request
// would have waited. Loaded for the projects whose tests run platforms (vitest.config.ts).
import { afterEach, beforeEach, expect } from 'vitest';
import { LONGEST_TURN_MS, resetTurns, stopWatching, takeLongestTurn } from './turn-watch.ts';

const MANY_REQUESTS =
  'requests within the process of the test need no turn of the event loop, and this test sends many';
const LARGE_BODY = 'JSON of up to 10 MiB is parsed and written in one turn';

/**
 * Code is compiled when it runs for the first time, which is most of what these tests do, in small worlds. With large worlds a turn has half of
 * the time (e2e/large-requests.slow.test.ts).
 */
const LONGEST_FIRST_TURN_MS = 2 * LONGEST_TURN_MS;

/** Parts of the names of tests that may compute for longer, with the reason. This list must not grow. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'has a JSON Schema of its properties, and a list of them': MANY_REQUESTS,
  'has a schema and properties for every type': MANY_REQUESTS,
  'gets an organization back as it was, ids included': MANY_REQUESTS,
  'A patch makes nothing that no request could hold': LARGE_BODY,
  'the bytes of a body (D-007, D-185) > may be 10 MiB and no byte more': LARGE_BODY,
  'projects take 64 MB together: changes that exceed this are refused, and deletions are not': LARGE_BODY,
  'in a world of 100,000 resources': 'the test has limits of its own',
  'GET /openapi.json': 'the document is made at the first request',
};

// A test that stopped its platform in another way than by the helper does not count for the next file.
stopWatching();

beforeEach(resetTurns);

afterEach(async () => {
  const longestMs = await takeLongestTurn(LONGEST_FIRST_TURN_MS);
  const { currentTestName = '' } = expect.getState();
  if (longestMs <= LONGEST_FIRST_TURN_MS || Object.keys(EXCEPTIONS).some((part) => currentTestName.includes(part)))
    return;
  throw new Error(
    `one turn of the event loop took ${Math.round(longestMs)} ms of processor time, more than ${LONGEST_FIRST_TURN_MS}: every other request ` +
      'would have waited. Work in slices (server/storage/files/yielding.ts).',
  );
});
