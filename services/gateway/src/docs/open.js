/* global SwaggerUIBundle -- swagger-ui-bundle.js is loaded before */
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  validatorUrl: null, // else the library would show the document to its makers' validator
  persistAuthorization: false,
  tryItOutEnabled: true,
})
