"""Adjectives, adverbs and names of the demo world."""

# English | French masculine feminine [before the noun: <] | German | Finnish [stem] | classes
ADJECTIVES = """
old|vieux vieille <|alt|vanha|person animal furniture vehicle tool text clothes art place plant
young|jeune jeune <|jung|nuori nuore|person animal plant
small|petit petite <|klein|pieni piene|animal furniture vehicle tool food plant place clothes
big|grand grande <|groß|suuri suure|animal furniture vehicle tool food plant place
new|nouveau nouvelle <|neu|uusi uude|vehicle tool furniture text clothes art place
beautiful|beau belle <|schön|kaunis kaunii|place plant clothes art animal furniture
good|bon bonne <|gut|hyvä|food text tool art person
bad|mauvais mauvaise <|schlecht|huono|food text art
rich|riche riche|reich|rikas rikkaa|person
poor|pauvre pauvre|arm|köyhä|person
tired|fatigué fatiguée|müde|väsynyt väsynee|person animal
hungry|affamé affamée|hungrig|nälkäinen nälkäise|person animal
happy|heureux heureuse|glücklich|iloinen iloise|person animal
sad|triste triste|traurig|surullinen surullise|person text art
angry|furieux furieuse|wütend|vihainen vihaise|person animal
clever|malin maligne|klug|viisas viisaa|person animal
brave|courageux courageuse|mutig|rohkea|person animal
polite|poli polie|höflich|kohtelias kohteliaa|person
lazy|paresseux paresseuse|faul|laiska|person animal
famous|célèbre célèbre|berühmt|kuuluisa|person place art text
sick|malade malade|krank|sairas sairaa|person animal plant
strong|fort forte|stark|vahva|person animal tool
shy|timide timide|schüchtern|ujo|person animal
curious|curieux curieuse|neugierig|utelias uteliaa|person animal
red|rouge rouge|rot|punainen punaise|vehicle clothes plant furniture food
green|vert verte|grün|vihreä|vehicle clothes plant furniture food
blue|bleu bleue|blau|sininen sinise|vehicle clothes plant furniture tool
white|blanc blanche|weiß|valkoinen valkoise|vehicle clothes plant furniture animal
black|noir noire|schwarz|musta|vehicle clothes furniture animal tool
brown|brun brune|braun|ruskea|animal clothes furniture
yellow|jaune jaune|gelb|keltainen keltaise|plant clothes vehicle food
grey|gris grise|grau|harmaa|animal clothes vehicle
fresh|frais fraîche|frisch|tuore tuoree|food plant
sweet|sucré sucrée|süß|makea|food
cold|froid froide|kalt|kylmä|food place
warm|chaud chaude|warm|lämmin lämpimä|food clothes place
ripe|mûr mûre|reif|kypsä|food
expensive|cher chère|teuer|kallis kallii|clothes vehicle tool furniture art food
heavy|lourd lourde|schwer|raskas raskaa|tool furniture text vehicle
broken|cassé cassée|kaputt|rikkinäinen rikkinäise|tool furniture vehicle
sharp|tranchant tranchante|scharf|terävä|tool
useful|utile utile|nützlich|hyödyllinen hyödyllise|tool text
empty|vide vide|leer|tyhjä|place vehicle
quiet|tranquille tranquille|ruhig|rauhallinen rauhallise|place person animal
dark|sombre sombre|dunkel|pimeä|place
modern|moderne moderne|modern|nykyaikainen nykyaikaise|place furniture vehicle art
dirty|sale sale|schmutzig|likainen likaise|clothes vehicle place animal
dry|sec sèche|trocken|kuiva|plant food clothes
long|long longue <|lang|pitkä|text clothes
short|court courte|kurz|lyhyt lyhye|text clothes
strange|étrange étrange|seltsam|outo oudo|text art person animal place
important|important importante|wichtig|tärkeä|text person
boring|ennuyeux ennuyeuse|langweilig|tylsä|text art
interesting|intéressant intéressante|interessant|kiinnostava|text art place
wild|sauvage sauvage|wild|villi|animal plant
tame|docile docile|zahm|kesy|animal
fast|rapide rapide|schnell|nopea|vehicle animal
slow|lent lente|langsam|hidas hitaa|vehicle animal
loud|bruyant bruyante|laut|äänekäs äänekkää|animal vehicle art
elegant|élégant élégante|elegant|tyylikäs tyylikkää|clothes person furniture
"""
OPPOSITES = """
old new|young old|small big|good bad|rich poor|happy sad|clean dirty|cold warm|long short|wild tame|fast slow
brave shy|quiet loud|interesting boring|fresh dry|strong sick
"""
# manner, behind the verb: English | French | German | Finnish
MANNER = """
quickly|rapidement|schnell|nopeasti
slowly|lentement|langsam|hitaasti
carefully|soigneusement|vorsichtig|varovasti
quietly|tranquillement|leise|hiljaa
loudly|bruyamment|laut|äänekkäästi
happily|joyeusement|fröhlich|iloisesti
sadly|tristement|traurig|surullisesti
proudly|fièrement|stolz|ylpeästi
patiently|patiemment|geduldig|kärsivällisesti
angrily|furieusement|wütend|vihaisesti
secretly|secrètement|heimlich|salaa
gladly|volontiers|gern|mielellään
calmly|calmement|ruhig|rauhallisesti
bravely|courageusement|mutig|rohkeasti
badly|mal|schlecht|huonosti
politely|poliment|höflich|kohteliaasti
nervously|nerveusement|nervös|hermostuneesti
"""
# frequency, before the verb
FREQUENCY = """
often|souvent|oft|usein
always|toujours|immer|aina
sometimes|parfois|manchmal|joskus
rarely|rarement|selten|harvoin
usually|habituellement|meistens|yleensä
"""
# opens a sentence; tense: any, past or present
OPENING = """
suddenly|soudain|plötzlich|yhtäkkiä|any
perhaps|peut-être que|vielleicht|ehkä|any
luckily|heureusement|glücklicherweise|onneksi|any
finally|finalement|schließlich|lopulta|any
yesterday|hier|gestern|eilen|past
today|aujourd'hui|heute|tänään|any
now|maintenant|jetzt|nyt|present
then|ensuite|dann|sitten|any
unfortunately|malheureusement|leider|valitettavasti|any
"""
TIMES = """
last week|la semaine dernière|letzte Woche|viime viikolla|past
last year|l' année dernière|letztes Jahr|viime vuonna|past
this morning|ce matin|heute Morgen|tänä aamuna|any
that evening|ce soir-là|an jenem Abend|sinä iltana|past
every day|chaque jour|jeden Tag|joka päivä|present
every week|chaque semaine|jede Woche|joka viikko|present
one day|un jour|eines Tages|eräänä päivänä|past
"""
INTERJECTIONS = """
yes|oui|ja|kyllä
no|non|nein|ei
well|bon|nun|no
oh|oh|oh|oi
"""
# given names end in a vowel or take i in Finnish
WOMEN = """
Anna Maria Julia Laura Emma Sofia Clara Lucia Elena Nina Eva Marta Olga Vera Rosa Ida Ella Lisa Paula Diana Sara
Nora Helena Irina Tina Hanna Mona Petra Silvia Teresa Monika Angela Barbara Carla Daniela Erika Flora Gloria Ingrid
Johanna Katarina Linda Magda Natalia Olivia Patricia Ramona Sandra Tamara Ursula Viola Wilma Yvonne Zelda Agata
Bianca Celia Dora Edith Frida Gerda Hilda Irma Jasmin Karin Lena Mirjam Nelly Oona Pia Rita Stella Tanja Ulla
Vanessa Alice Adele Amalia Antonia Aurora Berta Camilla Cecilia Charlotta Claudia Cornelia Corinna Dagmar Delia
Dominika Eleonora Elvira Emilia Estella Eugenia Fabiana Felicia Fiona Gabriela Georgia Gisela Greta Gudrun Hedda
Heidi Henrietta Hermina Ilona Isabella Jana Jelena Jolanta Josefina Juliana Justina Klaudia Kristina Lavinia Leona
Livia Loretta Luisa Malin Marcela Margarita Marina Marlena Matilda Milena Miranda Nadia Ottilia Palmira Raisa
Rebekka Renata Roberta Rosalia Sabina Selma Sigrid Simona Susanna Sylvia Tatjana Valeria Veronika Victoria Viktoria
Xenia
"""
MEN = """Peter Robert Martin Thomas Oscar Hugo Bruno Otto Leo Paul Victor Albert Simon Daniel Adam Felix Max Erik
Karl Henrik Anton Arthur Benjamin Conrad David Edgar Fabian Georg Harald Ivan Jakob Kasper Lorenz Marco Nils Olaf Pablo
Ralf Stefan Theodor Urban Valentin Walter Xaver Yorick Armin Boris Carlo Dario Emil Frank Gustav Hector Igor Joel Konrad
Ludwig Milan Norbert Orlando Patrik Rolf Sven Tim Ulrich Vincent Werner Alfred Bernard Claudio Diego Erwin Franco
Abel Achim Aldo Alexander Alvin Ambros Anselm Arnold August Basil Bastian Benedikt Bernd Björn Bogdan Burkhard
Cesar Christian Clemens Cyril Detlef Dietmar Dominik Eberhard Eduard Elias Enrico Ernst Eugen Fabio Ferdinand
Florian Frederik Gabriel Gerhard Gerald Giovanni Gregor Guido Günter Hannes Heinrich Helmut Herbert Hermann Holger
Ignaz Ingo Ismael Jaromir Joachim Johan Jonas Julian Jürgen Kai Kevin Klaus Klemens Kuno Lars Leander Leonard Lothar
Lukas Magnus Manuel Marcel Marek Matthias Moritz Nikolai Oliver Ottokar Pascal Philipp Quirin Rafael Raimund
Reinhard Richard Roland Roman Rudolf Samuel Sebastian Siegfried Stanislav Theo Tobias Tristan Uwe Viktor Vladimir
Waldemar Wilhelm Wolfgang
"""
SURNAMES = """
Keller Brandt Fischer Lang Moser Novak Kovac Horvat Bauer Hartmann Schuster Wagner Vogel Becker Lehmann Roth Marin
Costa Silva Rossi Romano Ferrara Moretti Conti Bruni Serra Ramos Torres Vega Medina Castro Molina Ortega Delgado
Moreau Laurent Bertrand Rousseau Garnier Chevalier Lambert Fontaine Bonnet Mercier Perrin Renard Colin Robin Gautier
Berg Lind Dahl Holm Strand Lund Nord Sund Hagen Moen Solberg Haugen Nilsen Larsen Hansen Olsen Madsen Poulsen Jensen
Smith Taylor Walker Cooper Turner Parker Carter Mason Palmer Porter Fowler Hunter Gardner Barker Chapman Sawyer
Tanner Adler Brenner Decker Engel Falk Geiger Hahn Jung Krause Lorentz Mayer Nagel Oster Pfeifer Quint Richter
Sommer Thoma Unger Vetter Winter Zimmer Albrecht Bergmann Clausen Dietrich Ebert Frey Graf Heller Irving Jordan
Kramer Linden Mertens Neumann Oppel Pohl Reuter Seidel Trost Uhlig Voigt Weber Ziegler Arnaud Blanc Carpentier
Dupont Etienne Faure Girard Hubert Imbert Joubert Kerner Leclerc Martel Noel Olivier Petit Quentin Rolland Simonet
Tissot Urbain Valette Watteau Aaltonen Bianco Carvalho Dominguez Esposito Fabbri Gallo Herrera Iglesias Jansen
Kuusela Lopez Mancini Navarro Otero Pinto Quintero Rinaldi Santoro Tavares Ulloa Vidal Zapata Aguilar Barbosa
Cabrera Duarte Espinoza Fuentes Galindo Hidalgo Abbott Archer Barnes Baxter Bishop Bolton Brewer Burton Carver
Chandler Clayton Collins Cooke Crawford Dalton Dawson Dixon Draper Ellis Farrell Fletcher Forster Gibson Glover
Graham Grant Harper Hayes Holland Hooper Hudson Jarvis Jenkins Kendall Lawson Lester Lowell Marsh Milton Morgan
Norton Osborne Patton Pearson Potter Preston Ramsey Redford Sheldon Shelton Stanton Sutton Thornton Thurston
Turnbull Vance Wallace Warren Watson Weston Whitman Winslow Woodward Wright Bellini Bernini Bertolli Calvino Capello
Carboni Colombo Damiani Falcone Farina Ferretti Galli Gentile Grasso Lombardi Longo Marchetti Mariani Martino Mazza
Monti Morelli Orlandi Pagano Palumbo Parisi Pellegrini Piras Ricci Rinaldo Rizzo Sala Sanna Sartori Testa Valente
Vitale Zanetti Alonso Arroyo Blanco Bravo Calvo Campos Carrasco Cortes Crespo Dominga Flores Gallego Garrido
Guerrero Ibarra Lozano Marquez Mendoza Montero Morales Nieto Ortiz Pascual Prieto Quiroga Reyes Rubio Salazar Sanz
Soler Soto Vargas Velasco Arendt Bachmann Baumann Behrens Berger Bohm Busch Dorn Eckert Ehlers Feldmann Fink Gerlach
Gruber Hagemann Heinze Hoffmann Huber Kirchner Knoll Koller Kunze Lorenz Marx Metzger Nolte Peters Pfister Raabe
Riedel Sander Schiller Schmitt Stein Straub Thiel Ulmer Wenzel Wirth Zander Ahlgren Bergstrom Carlsson Dahlgren
Ekman Forsberg Granath Hedlund Isaksen Johansen Karlsen Lindgren Myhre Norberg Oberg Palm Quist Rosen Sandberg
Tornberg Ulven Viklund Westman
"""
# English | French | German | Finnish [stem]
CITIES = """
Paris|Paris|Paris|Pariisi|
London|Londres|London|Lontoo|
Berlin|Berlin|Berlin|Berliini|
Rome|Rome|Rom|Rooma|
Madrid|Madrid|Madrid|Madridi|
Vienna|Vienne|Wien|Wieni|
Prague|Prague|Prag|Praha|
Lisbon|Lisbonne|Lissabon|Lissaboni|
Dublin|Dublin|Dublin|Dublini|
Oslo|Oslo|Oslo|Oslo|
Stockholm|Stockholm|Stockholm|Tukholma|
Helsinki|Helsinki|Helsinki|Helsinki Helsingi|
Copenhagen|Copenhague|Kopenhagen|Kööpenhamina|
Warsaw|Varsovie|Warschau|Varsova|
Budapest|Budapest|Budapest|Budapesti|
Geneva|Genève|Genf|Geneve|
Venice|Venise|Venedig|Venetsia|
Milan|Milan|Mailand|Milano|
Naples|Naples|Neapel|Napoli|
Cologne|Cologne|Köln|Köln Kölni|
Munich|Munich|München|München Müncheni|
Hamburg|Hambourg|Hamburg|Hampuri|
Lyon|Lyon|Lyon|Lyon Lyoni|
Seville|Séville|Sevilla|Sevilla|
Athens|Athènes|Athen|Ateena|
Moscow|Moscou|Moskau|Moskova|
"""
# What documents are about: topic | classes of its things | places | people | what they do there
TOPICS = """
cooking|food tool|kitchen restaurant bakery market|cook baker waiter butcher guest|laugh whisper
farm|animal plant|barn field stable village|farmer shepherd hunter butcher soldier|shout cough
reading|text furniture|library school office university|librarian student teacher writer poet|study whisper
travel|vehicle clothes|station harbour hotel town|pilot driver tourist sailor passenger|travel wait
music|art text|theatre museum church palace|musician singer dancer actor poet|sing dance
workshop|tool vehicle|workshop factory courtyard corridor|mechanic carpenter engineer director merchant|work hesitate
clothes|clothes art|shop square bank pharmacy|merchant secretary queen barber aunt|smile speak
garden|plant animal|garden park forest valley|gardener child girl boy woman|run walk
home|furniture food|house room cabin cellar|mother father sister uncle neighbour|sleep dream
people|person text|hospital prison castle tower|judge lawyer doctor nurse patient thief|cry tremble
"""
