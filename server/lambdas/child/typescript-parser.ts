/* A bundle of its own, beside the child's: it is loaded for TypeScript only, and larger than all the rest. */
export { transform } from 'sucrase';
