/** What keeps it from being tried on a machine; undefined: nothing. */
export function skipReasonFor(machine: {
  env: NodeJS.ProcessEnv;
  platform: string;
  nodeVersion: string;
  uid: number | undefined;
}): string | undefined;

/** The report, in Markdown. */
export function reportOf(
  facts: Readonly<Record<string, string>>,
  steps: readonly { title: string; verdict: string; seconds: number; lines: readonly string[] }[],
): string;
