// What the page knows of itself and of the platform.
var root = document.documentElement;
var config = window.binderyConfig;
var texts = window.binderyTexts;
var panelWords = texts.assistant;
