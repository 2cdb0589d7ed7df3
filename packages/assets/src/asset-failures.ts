/** There are more bytes than may be stored. The caller can clear it. */
export class AssetTooLarge extends Error {
  readonly maxBytes: number

  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`)
    this.maxBytes = maxBytes
  }
}

/** The bytes are no PNG, JPEG, WebP, WAV or MPEG audio. The caller can clear it. */
export class AssetTypeUnknown extends Error {
  constructor() {
    super('the bytes are of no type that is stored')
  }
}

/** There is nothing under these ids. */
export class AssetMissing extends Error {
  constructor(options?: ErrorOptions) {
    super('there is no such asset', options)
  }
}

/** The store can not be read or written now. */
export class AssetStoreUnavailable extends Error {
  constructor(options?: ErrorOptions) {
    super('the asset store is unavailable', options)
  }
}
