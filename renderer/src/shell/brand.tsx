/** The logo: a glass with a leaf. */
export function Brand({ size = 20 }: { size?: number }) {
  return (
    <svg
      aria-hidden
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill="none"
      stroke="var(--brand)"
      strokeLinecap="round"
    >
      <path d="M5 3.500h14M6.500 3.500v14.500a3 3 0 0 0 3 3h5a3 3 0 0 0 3-3V3.500" strokeWidth={1.9} />
      <path
        d="M12 17.500c0-3.500 1-6 3.200-7.200.4 3.200-.6 5.700-3.200 7.200ZM12 17.500c0-2.300-.9-3.900-3-4.700 0 2.300 1 4 3 4.700Z"
        fill="var(--brand)"
        stroke="none"
      />
    </svg>
  );
}
