/**
 * The response to a request without a body. If a request has a body, every server of this benchmark parses its JSON and
 * serializes it again.
 */
export const SUCCESS_TEXT = 'SUCCESS';

/**
 * Returns the source of an inline lambda that responds as the other servers do; `successText` tells one version from
 * another.
 */
export function lambdaSource(successText = SUCCESS_TEXT): string {
  return `exports.run = (event, context, callback) => callback(null, event === '{}' ? '${successText}' : JSON.parse(event));`;
}

/** 10 KB of JSON as an order might be. */
export const ORDER: string = JSON.stringify({
  customer: { name: 'Ada Lovelace', email: 'ada@example.com' },
  lines: Array.from({ length: 100 }, (_, at) => ({
    article: `article-${at}`,
    amount: at,
    price: at * 1.25,
    note: 'wrapped as a gift, with a card',
  })),
});
