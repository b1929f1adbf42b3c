/** What every server of this benchmark does with a request: a word without a body, with one its JSON read and written again. */
export const WORD = 'SUCCESS';

/** The same as an inline lambda; `word` tells one version from another. */
export function lambdaSource(word = WORD): string {
  return `exports.run = (event, context, callback) => callback(null, event === '{}' ? '${word}' : JSON.parse(event));`;
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
