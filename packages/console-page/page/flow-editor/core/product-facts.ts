import type { ProductRecord } from '@gateway/api/console/products'
import type { Products } from './canvas-model.ts'

/**
 * What the validator has to know of the products that a project can call. What only operators are shown of them is left out, and
 * so not checked here; the server checks it when a revision is saved.
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
