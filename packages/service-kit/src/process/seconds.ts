/** The histogram of every duration: in seconds, from half a millisecond to five minutes. */
export const seconds = {
  unit: 's',
  advice: {
    explicitBucketBoundaries: [
      0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 100, 300,
    ],
  },
}
