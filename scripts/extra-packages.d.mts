export const NEWEST_LTS: number;
export const newestNode: string;
export const clientGenerators: string;
export const testRunners: string;
export const vitest3: string;
export const MANAGERS: Record<'pnpm' | 'yarn' | 'bun' | 'bunx' | 'deno', readonly [string, ...string[]]>;
