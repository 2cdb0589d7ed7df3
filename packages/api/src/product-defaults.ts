/** Values of a product that does not set them. */
export const productDefaults = {
  /**
   * One byte is at most one token. If this bound refuses a call and the product names its tokenizer, the prompt is
   * counted. Without a tokenizer, the bound is that of real texts, which leaves out texts that no one writes (money
   * §2.2).
   */
  tokensPerByte: { counted: 1, uncounted: 0.5 },
  overheads: { perMessage: 8, perTool: 16, fixedWithTools: 64, maxTokensPerImage: null, factor: 1 },
  // The same size twice, so that by default an image of any product fits into a chat with any other.
  imageInput: { maxBytes: 5 * 1024 * 1024, maxCount: 10, https: false },
  maxOutputBytes: 5 * 1024 * 1024,
  parameterValues: {},
  supportedParameters: ['max_tokens', 'temperature', 'top_p', 'stop', 'stream', 'stream_options'],
  modalities: {
    chat: { input: ['text'], output: ['text'] },
    embedding: { input: ['text'], output: ['embedding'] },
    image: { input: ['text'], output: ['image'] },
    audio: { input: ['text'], output: ['audio'] },
  },
} as const
