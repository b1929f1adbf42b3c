import { meaningfulHeaders } from '../../api/curl.ts';
import type { RecordedBody } from '../../api/use-traffic.ts';
import type { InvocationDetail } from './use-invocations.ts';

/** The lines of each test before its call. */
const HEAD = `import { afterAll, expect, it } from 'vitest';
import { startEmulator } from 'terrarium-emulator';

// \`npx terrarium-emulator export > world.yaml\` writes the world of this platform.
const platform = await startEmulator({ seed: 'world.yaml' });
afterAll(() => platform.stop());
`;

/** Recorded credentials are hidden. */
const TOKEN_OF_ROOT = `\`Bearer \${await platform.token()}\``;

/** An invocation as a Vitest test with the library, which sends the same request or event and expects success. */
export function testOf({ lambdaName, event, outcome, outbound, request }: InvocationDetail): string {
  if (!request) {
    const failure = outcome.ok ? '' : ` // was: ${oneLine(outcome.message)}`;
    return test(`${lambdaName} succeeds`, [
      `const { outcome } = await platform.invoke(${literal(lambdaName)}, ${eventLiteral(completeText(event.body))});`,
      `expect(outcome).toMatchObject({ ok: true });${failure}`,
    ]);
  }
  const { method, target, status } = request;
  const text = completeText(request.request.body);
  const headers = meaningfulHeaders(request.request.headers).map(
    ([name, value]) =>
      `    ${literal(name)}: ${name.toLowerCase() === 'authorization' ? TOKEN_OF_ROOT : literal(value)},`,
  );
  const expectation =
    status !== undefined && status < 400 ? `${status});` : `200); // was ${status ?? 'without a response'}`;
  return test(`${method} ${target} succeeds`, [
    `const response = await fetch(platform.gatewayUrl + ${literal(target)}, {`,
    `  method: ${literal(method)},`,
    ...(headers.length > 0 ? ['  headers: {', ...headers, '  },'] : []),
    ...(text ? [`  body: ${literal(text)},`] : []),
    ...(request.request.body?.isCut ? ['  // Add the body: only a part of it was recorded.'] : []),
    '});',
    `expect(response.status).toBe(${expectation}`,
    ...(outbound?.some(({ caughtBy }) => caughtBy === 'crm') ? ['await platform.leads.waitFor();'] : []),
  ]);
}

function test(title: string, lines: readonly string[]): string {
  return `${HEAD}\nit(${literal(title)}, async () => {\n${lines.map((line) => `  ${line}\n`).join('')}});\n`;
}

/** The text of a body, unless only a part of it was recorded or it is no text. */
const completeText = (body: RecordedBody | undefined): string => (body?.isCut ? '' : (body?.text ?? ''));

/** An event that is no JSON is a string. */
function eventLiteral(text: string): string {
  try {
    return text === '' ? '{}' : JSON.stringify(JSON.parse(text));
  } catch {
    return literal(text);
  }
}

const literal = (text: string): string => JSON.stringify(text);

const oneLine = (text: string | undefined): string => (text ?? 'a failure').split('\n', 1).join();
