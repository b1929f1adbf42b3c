/* A bundle of its own, beside the child's: it is loaded for few handlers, and larger than all the rest. */
export { parseExpressionAt } from 'acorn';
