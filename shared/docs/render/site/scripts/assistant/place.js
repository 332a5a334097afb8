// Facts about the page and the platform.
var root = document.documentElement;
var config = window.binderyConfig;
var texts = window.binderyTexts;
var panelWords = texts.assistant;
