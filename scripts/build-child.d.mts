/** Bundles the lambda child's bootstrap into one CommonJS file; `outFile` has to end in `.cjs`. */
export function buildChild(options: { outFile: string; plugins?: import('vite').Plugin[] }): Promise<void>;
