/* A separate bundle: it is larger than the rest of the child's code, and only TypeScript needs it. */
export { transform } from 'sucrase';
export { acceptTypeScriptImports } from './typescript-imports.ts';
