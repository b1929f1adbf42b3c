/** Creates a value on first use, once; a failed creation is retried on the next use. */
export function lazy<T>(make: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined;
  return () => {
    pending ??= make().catch((thrown: unknown) => {
      pending = undefined;
      throw thrown;
    });
    return pending;
  };
}
