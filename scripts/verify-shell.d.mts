/** What keeps it from being tried on a machine; undefined: nothing. */
export function skipReasonFor(machine: {
  env: NodeJS.ProcessEnv;
  platform: string;
  nodeVersion: string;
  uid: number | undefined;
}): string | undefined;
