import type { ProductRecord } from '@gateway/api/console/products'
import type { Products } from './canvas-model.ts'

/**
 * Product facts for the validator. Facts that only operators can see are missing, so they are not checked here; the
 * server checks them when a revision is saved.
 */
export function productFacts(products: readonly ProductRecord[]): Products {
  return new Map(
    products.map((product) => {
      const { id, kind, supportedParameters, maxOutputTokens, contextLength, maxOutputBytes, parameterValues } = product
      const perImage = product.overheads?.maxTokensPerImage
      const facts = {
        kind,
        assigned: true,
        supportedParameters,
        maxOutputTokens,
        contextLength,
        maxOutputBytes,
        parameterValues,
        ...(perImage !== undefined && { takesImages: perImage !== null }),
        ...(typeof perImage === 'number' && { imageInput: { ...product.imageInput, maxTokens: perImage } }),
      }
      return [id, facts]
    }),
  )
}
