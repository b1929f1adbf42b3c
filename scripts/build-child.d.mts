/** Bundles the lambda child's bootstrap into CommonJS files; `outFile`, which loads it, has to end in `.cjs`. */
export function buildChild(options: { outFile: string; plugins?: import('vite').Plugin[] }): Promise<void>;
